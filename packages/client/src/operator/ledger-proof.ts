import type { LedgerVerdictView } from '@patchboard/wire';
import { orAbort, throwIfAborted, type Bounds } from '../http/abort.ts';
import { isRecord } from '../decode/decode.ts';
import { decodeVerdict } from '../decode/operator-views.ts';
import { guardAttempt, type Guard } from '../http/guard.ts';
import { boundsOf, headOf, prepare, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { badResponse, errorOf, parseJson } from '../http/problem.ts';
import type { BodyReader, FetchResponse } from '../http/runtime.ts';
import { stoppable } from '../http/stoppable.ts';

/** The server reads the whole chain before it answers, however long that is by now. */
const VERIFY_MS = 600_000;

export async function ledgerVerify(settings: Settings, options: RequestOptions): Promise<LedgerVerdictView> {
  const what: HttpRequest = {
    method: 'GET',
    path: '/v1/ledger/verify',
    timeoutMs: Math.max(VERIFY_MS, settings.requestTimeoutMs),
    repeat: 'safe',
  };
  return request(settings, what, decodeVerdict, boundsOf(options));
}

/**
 * Lines exactly as the server wrote them, oldest first; the last one holds the head. An export that breaks off throws,
 * so whoever reached the end without an error has all of it.
 */
export function ledgerExport(settings: Settings, options: RequestOptions): AsyncIterableIterator<string> {
  return stoppable(options.signal, (bounds) => lines(settings, bounds));
}

async function* lines(settings: Settings, bounds: Bounds): AsyncGenerator<string, void, undefined> {
  throwIfAborted(bounds.signal);
  const what: HttpRequest = {
    method: 'GET',
    path: '/v1/ledger/export',
    headers: { accept: 'application/jsonl, application/problem+json' },
    repeat: 'safe',
  };
  const prepared = await prepare(settings, what);
  const guard = guardAttempt(settings, bounds);
  let reader: BodyReader | undefined;
  try {
    guard.arm(settings.requestTimeoutMs);
    const fetched = settings.fetch(prepared.url, { ...prepared.init, signal: guard.signal });
    const response = await orAbort(fetched, guard.signal);
    const head = headOf(settings, what, response);
    if (response.status !== 200) {
      throw errorOf({ ...head, text: await orAbort(response.text(), guard.signal) });
    }
    if (!head.contentType.startsWith('application/jsonl')) {
      throw badResponse(head, `is no ledger (${head.contentType})`);
    }
    reader = response.body?.getReader();
    let rest = '';
    let last = '';
    for await (const text of textOf(response, reader, settings, guard)) {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      last = parts.at(-1) ?? last;
      yield* parts;
    }
    if (rest !== '' || !isHead(last)) throw badResponse(head, 'broke off before its end');
  } catch (error) {
    throw guard.explain(error);
  } finally {
    reader?.cancel().catch(() => undefined);
    guard.dispose();
  }
}

function isHead(line: string): boolean {
  const value = parseJson(line)?.value;
  return isRecord(value) && isRecord(value['head']);
}

/** In pieces where fetch can stream, else in one. */
async function* textOf(
  response: FetchResponse,
  reader: BodyReader | undefined,
  settings: Settings,
  guard: Guard,
): AsyncGenerator<string, void, undefined> {
  guard.arm(settings.idleTimeoutMs);
  if (reader === undefined) {
    yield await orAbort(response.text(), guard.signal);
    return;
  }
  const text = new TextDecoder();
  for (;;) {
    guard.arm(settings.idleTimeoutMs);
    const { done, value } = await orAbort(reader.read(), guard.signal);
    // The consumer may take its time with the lines; that is no silence of the server.
    guard.disarm();
    if (done) return;
    yield text.decode(value, { stream: true });
  }
}
