import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { failure, foreignText, messageOf, StorageUnavailable } from '../core/failures.ts';
import type { Log } from '../core/ports.ts';
import { connectionOptions } from '../postgres/connection-options.ts';
import { Connection } from '../postgres/connection.ts';
import { isConnectionLost, isReadOnly } from '../postgres/sql-errors.ts';
import type { Settings } from '../settings/settings.ts';
import { StoreUnreachable } from '../store/store-refused.ts';
import { problemJson, PROBLEM_TYPE } from '../transports/shared/routes/problem.ts';
import { VERSION } from '../version.ts';
import { stopReason } from './stop-reason.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/**
 * Whether a start failed because the database was away: it may succeed later. A connection that is lost in the middle of
 * the start fails it with an error of the driver.
 */
export function isStoreAway(error: unknown): boolean {
  return error instanceof StoreUnreachable || error instanceof StorageUnavailable || isConnectionLost(error);
}

export interface AwaitStoreOptions {
  /** Why the last start failed; null if there was none. */
  readonly problem: string | null;
  /** How many starts have failed since the server ran. */
  readonly failedStarts: number;
  readonly stopWithStdin: boolean;
  readonly log: Log;
}

/**
 * Resolves when the database of a server that starts again can be reached: to true, or to false if a signal or the end of stdin
 * came first. Meanwhile the port of the server responds: 200 for `/healthz`, because another process would not bring the
 * database back, and 503 for everything else.
 */
export async function awaitStore(
  settings: Pick<Settings, 'host' | 'port' | 'store'>,
  { problem, failedStarts, stopWithStdin, log }: AwaitStoreOptions,
): Promise<boolean> {
  const { store } = settings;
  if (store.kind === 'sqlite') return true;
  const away = problem ?? (await problemOf(store.url));
  if (away === null) return true;
  log.warn('server.store_away', { error: away });
  const server = await notReadyServer(settings, log);
  const stopped = new AbortController();
  const back = untilReached(store.url, failedStarts, stopped.signal);
  // No platform runs that could be fenced: the database ends the wait.
  const reason = await stopReason(stopWithStdin, {
    onFenced: (end) => void back.then(() => end('the database is back')),
    endDrainDelay: () => false,
  });
  stopped.abort();
  server?.closeAllConnections();
  server?.close();
  if ('fenced' in reason) return true;
  log.info('server.stopped');
  return false;
}

/**
 * Back-off: 250 ms, doubled with each attempt up to 5 s. Starts that failed count too: a database that can be reached may still
 * fail them. The first pause comes before the first attempt.
 */
async function untilReached(url: string, failedStarts: number, stopped: AbortSignal): Promise<void> {
  for (let attempt = failedStarts; ; attempt += 1) {
    const wait = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
    await pause(wait, undefined, { signal: stopped }).catch(() => {}); // It was stopped.
    if (stopped.aborted || (await problemOf(url, stopped)) === null) return;
  }
}

/** Returns why the database cannot be reached, or written to; null if it can, or if the start has to report another problem. */
async function problemOf(url: string, stopped?: AbortSignal): Promise<string | null> {
  const connection = new Connection({
    options: connectionOptions(url),
    name: 'restart',
    prepare: false,
    target: 'read-write',
  });
  const abandon = (): void => connection.abandon();
  stopped?.addEventListener('abort', abandon);
  try {
    await connection.open(0);
    return null;
  } catch (error) {
    return isConnectionLost(error) || isReadOnly(error) ? messageOf(error) : null;
  } finally {
    stopped?.removeEventListener('abort', abandon);
    await connection.close();
  }
}

/** Returns null if the port cannot be used: then nothing responds, which balancers take for not ready too. */
async function notReadyServer(
  { host, port }: Pick<Settings, 'host' | 'port'>,
  log: Log,
): Promise<Server | null> {
  const text = 'the database cannot be reached; the server starts again when it is back';
  const body = problemJson(failure('storage_unavailable', foreignText(text)));
  const health = JSON.stringify({ status: 'ok', version: VERSION });
  const server = createServer((request, response) => {
    const isHealth = request.url === '/healthz' || request.url === '/health';
    const type = isHealth ? 'application/json' : PROBLEM_TYPE;
    response.writeHead(isHealth ? 200 : 503, {
      'content-type': type,
      connection: 'close',
      'retry-after': '1',
    });
    response.end(isHealth ? health : body);
  });
  try {
    await once(server.listen(port, host), 'listening');
    return server;
  } catch (error) {
    log.warn('server.not_listening', { error: messageOf(error) });
    return null;
  }
}
