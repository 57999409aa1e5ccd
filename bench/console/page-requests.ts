import type { CDPSession } from 'playwright-core';

/** A request of the page to the API. */
export interface ApiRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly bytes: number;
  readonly ms: number;
  /** Entries of the lists in the response. */
  readonly rows: number;
}

export interface PageRequests {
  readonly api: readonly ApiRequest[];
  /** Everything that the page received, with headers, as compressed. */
  readonly bytes: number;
  /** The requests to the API that are under way. */
  readonly underWay: readonly string[];
  /** When the last request began or ended, by `performance.now()`. */
  readonly changedAt: number;
}

interface Open {
  readonly method: string;
  readonly url: string;
  readonly isApi: boolean;
  readonly beganAt: number;
}

/** Records the requests of a page. Those of the shared worker, a script and the stream of events, are not among them. */
export async function recordRequests(session: CDPSession): Promise<PageRequests> {
  const open = new Map<string, Open>();
  const api: ApiRequest[] = [];
  const state = { api, bytes: 0, underWay: [] as readonly string[], changedAt: performance.now() };
  const changed = (): void => {
    // The end of the request for the script of the shared worker is reported to the worker, not here.
    state.underWay = [...open.values()].filter(({ isApi }) => isApi).map(({ url }) => url);
    state.changedAt = performance.now();
  };
  session.on('Network.requestWillBeSent', ({ requestId, request, type, timestamp }) => {
    const isApi = type === 'Fetch' || type === 'XHR';
    open.set(requestId, { method: request.method, url: request.url, isApi, beganAt: timestamp });
    changed();
  });
  session.on('Network.loadingFailed', ({ requestId }) => {
    open.delete(requestId);
    changed();
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength: bytes, timestamp }) => {
    state.bytes += bytes;
    const sent = open.get(requestId);
    const end = (body: string | null): void => {
      if (sent?.isApi === true && body !== null) api.push(apiRequest(sent, { bytes, timestamp, body }));
      open.delete(requestId);
      changed();
    };
    if (sent?.isApi !== true) end(null);
    else
      session.send('Network.getResponseBody', { requestId }).then(
        ({ body }) => end(body),
        // The page was closed meanwhile.
        () => end(null),
      );
  });
  await session.send('Network.enable');
  return state;
}

function apiRequest(
  { method, url, beganAt }: Open,
  { bytes, timestamp, body }: { bytes: number; timestamp: number; body: string },
): ApiRequest {
  const { pathname, search } = new URL(url);
  const ms = (timestamp - beganAt) * 1000;
  return { method, path: `${pathname}${search}`, bytes, ms, rows: rowsIn(body) };
}

function rowsIn(text: string): number {
  if (!text.startsWith('{')) return 0;
  const lists = Object.values(JSON.parse(text) as Record<string, unknown>).filter(Array.isArray);
  return lists.reduce((sum, list) => sum + list.length, 0);
}
