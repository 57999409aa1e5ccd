import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ConfigError } from './cli/config-file.ts';
import { makeDataFolder } from './cli/make-data-folder.ts';
import type { Settings } from './cli/settings.ts';
import { Engine } from './core/engine.ts';
import { messageOf } from './core/failures.ts';
import type { Log, Store } from './core/ports.ts';
import { RateLimits } from './core/rate-limits.ts';
import { Redactor } from './core/redaction.ts';
import type { Pack, ServerTool } from './core/server-tool.ts';
import { essentialsPack, type EssentialsOptions } from './packs/essentials/pack.ts';
import { logEndedCall } from './runtime/call-log.ts';
import { nodeDigest } from './runtime/digest.ts';
import { timeOrderedIds } from './runtime/ids.ts';
import { nodeClock } from './runtime/node-clock.ts';
import { traceEndedCall } from './runtime/tracing.ts';
import { ajvSchemas } from './schemas/ajv-schemas.ts';
import { sqliteStore } from './store/sqlite/sqlite-store.ts';
import { agentRoutes } from './transports/agent-api/routes.ts';
import { homeRoutes } from './transports/home/routes.ts';
import { internalRoutes } from './transports/internal-api/routes.ts';
import { operatorRoutes } from './transports/operator-api/routes.ts';
import { createHttpApp } from './transports/shared/app.ts';
import { openGuard } from './platform-guard.ts';
import { VERSION } from './version.ts';

/** A running server: everything is wired here and nowhere else. */
export interface Platform {
  readonly engine: Engine;
  readonly store: Store;
  readonly url: string;
  /** Requests without a credential are taken. */
  readonly isLocal: boolean;
  /** Opens one browser session. */
  loginToken(): string;
  /** Stops taking requests, lets work finish, and lets go of everything. */
  close(): Promise<void>;
}

/** What settings cannot say; the chaos server and the benchmark use it. */
export interface PlatformParts {
  /** Besides the packs that are shipped. */
  readonly packs?: readonly Pack[];
  /** How the store is opened; the embedded one by default. */
  readonly openStore?: (file: string) => Promise<Store>;
}

const PURGE_EVERY_MS = 3_600_000;
const PURGE_BATCH = 1000;

export async function startPlatform(
  settings: Settings,
  log: Log,
  parts: PlatformParts = {},
): Promise<Platform> {
  await makeDataFolder(settings.dataFolder);
  const storeFile = join(settings.dataFolder, 'patchboard.db');
  const store = await (parts.openStore ?? openEmbedded)(storeFile);
  const packs = [...(parts.packs ?? [])];
  try {
    packs.unshift(essentials(settings, storeFile));
    return await start(settings, log, store, packs);
  } catch (error) {
    await closeAll(store, packs);
    throw error;
  }
}

async function start(settings: Settings, log: Log, store: Store, packs: readonly Pack[]): Promise<Platform> {
  const ids = timeOrderedIds(nodeClock);
  const { guard, offices, gatekeeper, sessions } = await openGuard(settings, { store, ids, log });
  const engine = new Engine({
    store,
    clock: nodeClock,
    ids,
    log,
    digest: nodeDigest,
    schemas: ajvSchemas(),
    limits: settings.limits,
    guard,
    grants: offices.grants,
    rates: new RateLimits(settings.rates, nodeClock),
    redactor: new Redactor(settings.redact),
  });
  for (const pack of packs) engine.addPack(withTimeouts(pack, settings.toolTimeoutsMs));
  engine.onEnded((call) => logEndedCall(log, call));
  engine.onEnded((call) => traceEndedCall(call, VERSION));
  const { resumed, sealed } = await engine.start();
  if (resumed + sealed > 0) log.info('engine.recovered', { resumed, sealed });
  const app = createHttpApp({
    engine,
    store,
    log,
    digest: nodeDigest,
    offices,
    authenticator: gatekeeper,
    door: { allowedHosts: settings.allowedHosts, allowedOrigins: settings.allowedOrigins },
    trustProxy: settings.trustProxy,
    version: VERSION,
    clock: nodeClock,
    routes: [...agentRoutes, ...internalRoutes, ...operatorRoutes, ...homeRoutes],
  });
  const url = await listen(app, settings);
  const stopPurging = keepPurging(settings, store, log);
  return {
    engine,
    store,
    url,
    isLocal: gatekeeper.isLocal,
    loginToken: () => sessions.issueLoginToken().token,
    close: async () => {
      stopPurging();
      await app.close();
      await engine.drain();
      await closeAll(store, packs);
    },
  };
}

async function openEmbedded(file: string): Promise<Store> {
  return await sqliteStore({ file, digest: nodeDigest });
}

async function listen(app: FastifyInstance, { host, port }: Settings): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenProblem(error, host, port);
  }
  const address = app.server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${name}:${address.port}`;
}

/** What a person can do about; everything else is thrown as it is. */
function listenProblem(error: unknown, host: string, port: number): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new ConfigError(
        `port ${port} is in use: stop the other server, or set PORT=${port === 65_535 ? 8080 : port + 1} or --port (0 picks a free one)`,
      );
    case 'EACCES':
      return new ConfigError(`port ${port} is not for this user: set PORT or --port to 1024 or more`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ConfigError(`HOST=${host} is no address of this machine: unset it, or name one that is`);
    default:
      return error;
  }
}

function essentials(settings: Settings, storeFile: string): Pack {
  const options: EssentialsOptions = {
    weather: settings.weather,
    database: {
      target: settings.queryDatabase,
      sampleFile: join(settings.dataFolder, 'sample.db'),
      forbiddenFiles: [storeFile],
    },
    now: () => nodeClock.now(),
  };
  try {
    return essentialsPack(options);
  } catch (error) {
    throw new ConfigError(`tools.${messageOf(error)}`);
  }
}

function withTimeouts(pack: Pack, timeoutsMs: ReadonlyMap<string, number>): Pack {
  const timed = (tool: ServerTool): ServerTool => {
    const timeoutMs = timeoutsMs.get(tool.name);
    return timeoutMs === undefined ? tool : { ...tool, timeoutMs };
  };
  return { ...pack, tools: pack.tools.map(timed) };
}

/** Ended calls are removed only if the operator set a retention; ledger rows never are. */
function keepPurging({ keepCallsMs }: Settings, store: Store, log: Log): () => void {
  if (keepCallsMs === null) return () => {};
  const purge = async (): Promise<void> => {
    let removed = 0;
    for (;;) {
      const batch = await store.purgeCalls(nodeClock.now() - keepCallsMs, PURGE_BATCH);
      removed += batch;
      if (batch < PURGE_BATCH) break;
    }
    if (removed > 0) log.info('retention.purged', { calls: removed });
  };
  const run = (): void => {
    purge().catch((error: unknown) => log.error('retention.failed', { error: messageOf(error) }));
  };
  const timer = setInterval(run, PURGE_EVERY_MS);
  run();
  return () => clearInterval(timer);
}

async function closeAll(store: Store, packs: readonly Pack[]): Promise<void> {
  for (const pack of packs) await pack.close?.();
  await store.close();
}
