import { PatchboardError } from '@patchboard/client';
import type { Command } from 'commander';
import type { DestinationStream } from 'pino';
import { messageOf } from '../../core/failures.ts';
import type { Log } from '../../core/ports.ts';
import { bufferedLines, type LogLines } from '../../runtime/log-lines.ts';
import { pinoLog } from '../../runtime/log.ts';
import type { Platform, PlatformParts } from '../../wiring/platform.ts';
import type { SandboxReport } from '../../wiring/sandbox-setup.ts';
import { environment } from '../../settings/environment.ts';
import { resolveSettings, type ServeFlags, type Settings } from '../../settings/settings.ts';
import type { StoreSettings } from '../../settings/store-settings.ts';
import { shownUrl } from '../../postgres/connection-options.ts';
import { removeServerFile, writeServerFile } from '../../settings/server-file.ts';
import { VERSION } from '../../version.ts';
import { firstSteps } from '../first-steps.ts';
import { stopReason, type StopReason } from '../stop-reason.ts';

/** Beside the drain and the delay before it; after that a stuck shutdown is aborted. */
const SHUTDOWN_MS = 10_000;

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('start the server')
    .option('--port <port>', 'port to listen on (PORT, default 8080; 0 picks a free one)')
    .option('--host <host>', 'address to listen on (HOST, default 127.0.0.1)')
    .option('--data <folder>', 'data folder (PATCHBOARD_DATA, default ./.patchboard)')
    .option('--config <file>', 'YAML or JSON config (PATCHBOARD_CONFIG)')
    .option(
      '--unsafe-no-sandbox',
      "if there is no sandbox, run commands and writes as the server's user, with its files and network, each after approval",
    )
    .option('--stop-with-stdin', 'stop when stdin ends, so that the server does not outlive its parent')
    .addHelpText('after', '\nExample:\n  $ patchboard serve --port 9000')
    .action(serve);
}

async function serve(flags: ServeFlags & { readonly stopWithStdin?: boolean }): Promise<void> {
  const { stopWithStdin = false } = flags;
  await runServer(resolveSettings(environment(), flags), {}, stopWithStdin);
}

/**
 * Resolves after SIGTERM, SIGINT or SIGHUP, or with `stopWithStdin` the end of stdin, and a graceful shutdown. If another node has
 * taken over the calls of this one, starts again in this process, on the same port, as soon as the database can be reached.
 * Rejects if another process has taken over a store that is not shared.
 */
export async function runServer(
  settings: Settings,
  parts: PlatformParts = {},
  stopWithStdin = false,
): Promise<void> {
  const destination = await logDestination();
  const log = pinoLog(settings.logLevel, destination);
  try {
    await runUntilStopped(settings, parts, stopWithStdin, log);
  } finally {
    // Before the error is printed, which is written to stderr at once.
    destination.drain?.();
  }
}

async function runUntilStopped(
  settings: Settings,
  parts: PlatformParts,
  stopWithStdin: boolean,
  log: Log,
): Promise<void> {
  let { port } = settings;
  let failedStarts = 0;
  for (let fencedBefore = 0; ;) {
    const { isClustered, url, reason } = await runOnce(
      { ...settings, port },
      { ...parts, fencedBefore },
      stopWithStdin,
      log,
    );
    if ('signal' in reason) return;
    let problem: string | null = null;
    if ('fenced' in reason) {
      if (!isClustered) throw new PatchboardError('problem', reason.fenced, { code: 'storage_unavailable' });
      if (url !== null) port = Number(new URL(url).port);
      log.warn('server.restarting', { problem: reason.fenced });
      fencedBefore += 1;
      failedStarts = 0;
    } else {
      problem = reason.away;
      failedStarts += 1;
    }
    const { awaitStore } = await import('../await-store.ts');
    if (!(await awaitStore({ ...settings, port }, { problem, failedStarts, stopWithStdin, log }))) return;
  }
}

/** Why a server was closed again. `url`: null if it had not started. */
interface Closed {
  readonly isClustered: boolean;
  readonly url: string | null;
  /** `away`: its database could not be reached when it started again. */
  readonly reason: StopReason | { readonly away: string };
}

/** Starts the server and resolves when it is closed again. */
async function runOnce(
  settings: Settings,
  parts: PlatformParts,
  stopWithStdin: boolean,
  log: Log,
): Promise<Closed> {
  // Loaded on demand, because it would slow down all other commands.
  const { FencedAtStart, startPlatform } = await import('../../wiring/platform.ts');
  let platform: Platform;
  try {
    platform = await startPlatform(settings, log, parts);
  } catch (error) {
    if (error instanceof FencedAtStart)
      return { isClustered: true, url: null, reason: { fenced: error.message } };
    const { isStoreAway } = await import('../await-store.ts');
    // Only a first start gives up: there an operator reads the error.
    if ((parts.fencedBefore ?? 0) > 0 && isStoreAway(error))
      return { isClustered: true, url: null, reason: { away: messageOf(error) } };
    throw error;
  }
  // Before the ready line is printed: a signal may follow at once.
  const stopping = stopReason(stopWithStdin, platform);
  const { pid } = process;
  const startedAt = new Date().toISOString();
  const temporary = stopWithStdin ? { temporary: true } : {};
  const file = { url: platform.url, pid, startedAt, version: VERSION, ...temporary };
  await orLog(writeServerFile(settings.dataFolder, file), log);
  const facts = [...storeFacts(settings.store), sandboxLine(platform.sandbox)].join('; ');
  process.stdout.write(`Patchboard is ready at ${platform.url} (${facts})\n`);
  if (process.stdout.isTTY) {
    const { url, isLocal } = platform;
    const hasConfiguredToken = settings.operatorTokens !== null;
    process.stdout.write(firstSteps({ url, isLocal, hasConfiguredToken, loginToken: platform.loginToken() }));
  }
  const reason = await stopping;
  log.info('server.stopping', 'signal' in reason ? reason : {});
  const delayMs = platform.isClustered ? settings.drainDelayMs : 0;
  const shutdownMs = delayMs + settings.limits.drainMs + SHUTDOWN_MS;
  const stuck = setTimeout(() => process.exit(1), shutdownMs).unref();
  await platform.close();
  clearTimeout(stuck);
  // After the close: while the file names a living process, the data folder is in use.
  await orLog(removeServerFile(settings.dataFolder, pid), log);
  log.info('server.stopped');
  return { isClustered: platform.isClustered, url: platform.url, reason };
}

/** `server.json` only helps others to find the server, so the server runs and stops without it. */
async function orLog(change: Promise<void>, log: Log): Promise<void> {
  try {
    await change;
  } catch (error) {
    log.warn('server.file_failed', { error: messageOf(error) });
  }
}

/** Readable lines on a terminal, otherwise JSON lines. */
async function logDestination(): Promise<DestinationStream & Partial<LogLines>> {
  if (!process.stderr.isTTY) return bufferedLines(2);
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    destination: 2,
    sync: true,
    messageKey: 'event',
    timestampKey: 'timestamp',
    ignore: 'level',
  });
}

function storeFacts(store: StoreSettings): readonly string[] {
  if (store.kind === 'sqlite') return [];
  return [`store: ${shownUrl(store.url)}`, 'no local mode, every request needs a credential'];
}

/** Returns the name of the sandbox, or why there is none. */
function sandboxLine({ provider, problem, isOff }: SandboxReport): string {
  if (problem === null) return `sandbox: ${provider}`;
  return isOff
    ? `no sandbox, so commands and writes are off: ${problem}`
    : `NO SANDBOX, every command and write requires approval: ${problem}`;
}
