import type { ClusterPeers } from '../cluster/cluster-peers.ts';
import { ConfigError } from '../settings/config-file.ts';
import { logTightened } from '../settings/keep-private.ts';
import { makeDataFolder } from '../settings/make-data-folder.ts';
import { environment } from '../settings/environment.ts';
import { closeDataFolder } from '../settings/private-data-folder.ts';
import type { Settings } from '../settings/settings.ts';
import type { Engine } from '../core/engine.ts';
import { messageOf } from '../core/failures.ts';
import type { Clock, Log, Store } from '../core/ports.ts';
import type { Pack } from '../core/tools/server-tool.ts';
import { TenantDirectory } from '../core/access/tenant-directory.ts';
import { openEngineContext, type EngineContext } from './engine-context.ts';
import { openApis, refuseOpenServer, type ListeningApis } from './apis.ts';
import { startIndexing } from './call-indexing.ts';
import { closeAll, closeHalfStarted, type Close } from './closing.ts';
import { DrainDelay } from './drain-delay.ts';
import { checkNames, isOfUpstream } from './check-names.ts';
import { fingerprintOf } from './fingerprint.ts';
import { openUpstreams } from './upstreams.ts';
import { configured } from './tool-config.ts';
import { loadHooks } from './hook-modules.ts';
import { openCluster } from './open-cluster.ts';
import { openStore } from './open-store.ts';
import { operatorTokenIn } from './operator-token-in.ts';
import { ownStoreOf } from './own-store.ts';
import { essentials, heritage, surroundingsOf } from './own-packs.ts';
import { loadPacks } from './pack-modules.ts';
import { logPolicyWarnings } from './policy-warnings.ts';
import { keepPurging } from './purging.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { timeOrderedIds } from '../runtime/ids.ts';
import { nodeClock } from '../runtime/node-clock.ts';
import { VERSION } from '../version.ts';
import { storeFileIn } from '../store/sqlite/store-file.ts';
import { openSandboxSetup, type SandboxReport, type SandboxSetup } from './sandbox-setup.ts';

/** A running server. This file is the composition root. */
export interface Platform {
  /** @internal */
  readonly engine: Engine;
  /** @internal */
  readonly store: Store;
  readonly url: string;
  /** Whether requests without a credential are accepted. */
  readonly isLocal: boolean;
  readonly sandbox: SandboxReport;
  /** Whether several nodes may share the store: a fenced one starts again. */
  readonly isClustered: boolean;
  /** Returns a single-use token that opens a browser session. */
  loginToken(): string;
  /** Calls `listener` if the store can be written no more, because another process has taken it over: close the server then. */
  onFenced(listener: (problem: string) => void): void;
  /**
   * Stops accepting requests, waits for running calls and releases all resources. One of several nodes first reports for the
   * drain delay that it is not ready, and still serves requests.
   */
  close(): Promise<void>;
  /** Ends the drain delay of a node that closes. Returns false if there is none. */
  endDrainDelay(): boolean;
}

/** Parts that settings cannot express, for the chaos server and the benchmark. */
export interface PlatformParts {
  /** Packs in addition to the built-in ones. */
  readonly packs?: readonly Pack[];
  /** @internal Opens the store. Default: that of the settings. */
  readonly openStore?: (file: string, log: Log) => Promise<Store>;
  /** @internal How often other nodes have fenced this process before. Default: 0. */
  readonly fencedBefore?: number;
}

interface Opened {
  readonly store: Store;
  /** Null: this server is the only node. */
  readonly cluster: ClusterPeers | null;
  readonly packs: readonly Pack[];
  readonly tenants: TenantDirectory;
  readonly sandboxSetup: SandboxSetup;
}

/** Another node took this one for dead before it had started: starting took longer than its lease. */
export class FencedAtStart extends Error {
  override readonly name = 'FencedAtStart';
}

/** Rejects with `FencedAtStart` if it may succeed when it is repeated. */
export async function startPlatform(
  settings: Settings,
  log: Log,
  parts: PlatformParts = {},
): Promise<Platform> {
  await makeDataFolder(settings.dataFolder);
  const tightened = await closeDataFolder(settings.dataFolder);
  const storeFile = storeFileIn(settings.dataFolder);
  const store = await (parts.openStore?.(storeFile, log) ?? openStore(settings, log));
  let cluster: ClusterPeers | null = null;
  let engine: Engine | null = null;
  let fenced: string | null = null;
  store.onFenced?.((problem) => {
    fenced = problem;
  });
  const packs = [...(parts.packs ?? [])];
  const tenants = new TenantDirectory(settings.tenants);
  try {
    const ownStore = await ownStoreOf(settings);
    cluster = await openCluster(store, settings.bus, log, parts.fencedBefore);
    // All nodes record the same time, whatever the clocks of their machines show.
    const clock = cluster?.clock ?? nodeClock;
    packs.unshift(essentials(settings, { storeFile, ownStore, clock }), heritage(settings, tenants, clock));
    const sandboxSetup = await sandboxSetupOf(settings, { log, store, clock });
    packs.push({ ...sandboxSetup.pack, close: () => sandboxSetup.close() });
    packs.push(...(await loadPacks(settings.packModules, surroundingsOf(settings, { log, tenants, clock }))));
    checkNames(settings, packs);
    const opened = { store, cluster, packs, tenants, sandboxSetup };
    const context = await openContext(settings, log, opened);
    engine = context.engine;
    const platform = await start(settings, context, opened);
    // Log this last, so that a failed start prints only its error.
    logTightened(tightened, log);
    return platform;
  } catch (error) {
    await closeHalfStarted({ engine, cluster, closes: closesOf(store, packs), log });
    throw fenced === null || settings.bus === null ? error : new FencedAtStart(fenced, { cause: error });
  }
}

async function openContext(settings: Settings, log: Log, opened: Opened): Promise<EngineContext> {
  const { store, cluster, tenants, sandboxSetup } = opened;
  const { workspaces, report } = sandboxSetup;
  const hooks = await loadHooks(settings.hookModules);
  return await openEngineContext({
    ...settings,
    store,
    log,
    hooks,
    tenants,
    workspaces,
    sandbox: report,
    ...(cluster === null ? {} : { peers: cluster, clock: cluster.clock, nodes: cluster.list }),
  });
}

async function start(settings: Settings, context: EngineContext, opened: Opened): Promise<Platform> {
  const { store, cluster, packs, sandboxSetup } = opened;
  // Before calls of an earlier process are resumed.
  const hasConfiguredToken = settings.operatorTokens !== null;
  refuseOpenServer(context, { ...settings, hasConfiguredToken });
  const { engine, log } = context;
  for (const pack of packs) add(engine, configured(pack, settings));
  const tools = engine.toolIndex.serverTools();
  cluster?.setFingerprint(fingerprintOf({ settings, version: VERSION, tools, digest: nodeDigest }));
  const upstreams = await openUpstreams(engine, settings, packs, {
    ...settings,
    log,
    clock: context.clock,
    schemas: context.schemas,
    environment: environment(),
  });
  const { resumed, sealed } = await engine.start();
  if (resumed + sealed > 0) log.info('engine.recovered', { resumed, sealed });
  await logPolicyWarnings(context, (pattern) => isOfUpstream(pattern, settings.upstreams));
  const operatorTokens = settings.operatorTokens ?? [await operatorTokenIn(settings.dataFolder, log)];
  const apis = await openApis(context, {
    ...settings,
    operatorTokens,
    hasConfiguredToken,
    // Other machines can reach the database, so this machine is no boundary.
    allowsLocalMode: settings.store.kind === 'sqlite',
    upstreamReloader: upstreams,
    ...(cluster === null ? {} : { isLeaving: () => cluster.isLeaving }),
  });
  cluster?.setUrl(apis.url);
  const stopPurging = keepPurging(settings.keepCallsMs, context);
  const stopIndexing = startIndexing(context, settings.keepCallsMs);
  const delay = new DrainDelay(settings.drainDelayMs);
  const shutDown = async (): Promise<void> => {
    stopPurging();
    await closeAll([
      () => (cluster === null ? undefined : leave(cluster, apis, delay)),
      () => apis.close(),
      () => engine.drain(),
      () => stopIndexing(),
      () => cluster?.close(),
      ...closesOf(store, packs),
    ]);
  };
  let closing: Promise<void> | null = null;
  return {
    engine,
    store,
    url: apis.url,
    isLocal: apis.isLocal,
    sandbox: sandboxSetup.report,
    isClustered: cluster !== null,
    loginToken: () => apis.loginToken(),
    onFenced: (listener) => void engine.onFenced(listener),
    close: async () => {
      closing ??= shutDown();
      await closing;
    },
    endDrainDelay: () => delay.end(),
  };
}

/** Other nodes give this one no calls, and balancers send its requests to them, before it stops accepting any. */
async function leave(cluster: ClusterPeers, apis: ListeningApis, delay: DrainDelay): Promise<void> {
  cluster.leave();
  if (!cluster.hasOthers) return;
  apis.closeAfterResponses();
  await delay.wait();
}

/** Converts an unusable workspace folder to a `ConfigError`. */
async function sandboxSetupOf(
  settings: Settings,
  { log, store, clock }: { readonly log: Log; readonly store: Store; readonly clock: Clock },
): Promise<SandboxSetup> {
  const ids = timeOrderedIds(clock);
  try {
    return await openSandboxSetup(settings.workspace, {
      store,
      ids,
      log,
      folder: settings.dataFolder,
      tasks: false,
    });
  } catch (error) {
    throw new ConfigError(`workspace: ${messageOf(error)}`);
  }
}

/** Converts errors of a third-party pack to `ConfigError`. */
function add(engine: Engine, pack: Pack): void {
  try {
    engine.addPack(pack);
  } catch (error) {
    throw new ConfigError(`pack ${pack.name}: ${messageOf(error)}`);
  }
}

function closesOf(store: Store, packs: readonly Pack[]): readonly Close[] {
  return [...packs.map((pack) => () => pack.close?.()), () => store.close()];
}
