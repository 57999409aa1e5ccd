import type { ClusterPeers } from '../cluster/cluster-peers.ts';
import { DEFAULT_RATES } from '../core/access/rate-limits.ts';
import { TenantDirectory } from '../core/access/tenant-directory.ts';
import type { Engine } from '../core/engine.ts';
import { resolveLimits } from '../core/limits.ts';
import { NO_WORKSPACES } from '../core/workspaces.ts';
import { SILENT_LOG } from '../runtime/silent-log.ts';
import type { AgentHooks } from '../sdk/agent-hooks.ts';
import { ResourceRegistry } from '../sdk/resource-registry.ts';
import { nodeClock } from '../runtime/node-clock.ts';
import type { AnyTool } from '../sdk/tool-instance.ts';
import { ToolRegistry, type RegistryFollower } from '../sdk/tool-registry.ts';
import { closeHalfStarted } from '../wiring/closing.ts';
import { openEngineContext, type EngineContext } from '../wiring/engine-context.ts';
import { openCluster } from '../wiring/open-cluster.ts';
import type { SandboxSetup } from '../wiring/sandbox-setup.ts';
import { BoardApis } from './board-apis.ts';
import { addBoardUpstreams } from './board-upstreams.ts';
import { boardSandboxSetup } from './board-sandbox-setup.ts';
import type { BoardOptions, Patchboard } from './board-types.ts';
import { Board } from './board.ts';
import { checkBoardOptions } from './options-shape.ts';
import { Retention } from './retention.ts';
import { memory } from './stores.ts';

export async function createPatchboard(options: BoardOptions = {}): Promise<Patchboard> {
  checkBoardOptions(options);
  const {
    tools = [],
    resources = {},
    store: kept = memory(),
    policy = {},
    hooks = [],
    redact = [],
    log = SILENT_LOG,
    retain,
  } = options;
  const { bus = null } = kept;
  const limits = resolveLimits(options.limits);
  const store = await kept.open({ retain, log });
  let sandboxSetup: SandboxSetup | null = null;
  let cluster: ClusterPeers | null = null;
  let engine: Engine | null = null;
  let unfollow = (): void => {};
  try {
    cluster = await openCluster(store, bus, log);
    const clock = cluster?.clock ?? nodeClock;
    sandboxSetup = await boardSandboxSetup(options.workspace, { folder: kept.folder, store, log, clock });
    const allHooks = Array.isArray(hooks) ? (hooks as readonly AgentHooks[]) : [hooks as AgentHooks];
    const context = await openEngineContext({
      store,
      log,
      limits,
      policy,
      rates: DEFAULT_RATES,
      redact,
      hooks: allHooks,
      workspaces: sandboxSetup?.workspaces ?? NO_WORKSPACES,
      sandbox: sandboxSetup?.report ?? null,
      tenants: new TenantDirectory(),
      ...(cluster === null ? {} : { peers: cluster, clock: cluster.clock, nodes: cluster.list }),
    });
    engine = context.engine;
    if (sandboxSetup !== null) engine.addPack(sandboxSetup.pack);
    const resourceRegistry =
      resources instanceof ResourceRegistry ? resources : new ResourceRegistry(resources);
    engine.resources.follow(resourceRegistry, { pack: null });
    const registry = registryOf(tools);
    const keepsAll = kept.folder !== null || bus !== null;
    const retention = keepsAll && retain !== undefined ? new Retention(retain, context) : null;
    await addBoardUpstreams(context, options, { folder: kept.folder, log });
    unfollow = registry.follow(followerOf(context));
    await engine.start();
    retention?.begin();
    const apisOptions = { folder: kept.folder, allowsLocalMode: bus === null, http: options.http ?? {} };
    const apis = new BoardApis(context, apisOptions);
    const parts = { context, registry, resourceRegistry, unfollow, apis, sandboxSetup, retention, cluster };
    return new Board(parts);
  } catch (error) {
    unfollow();
    const closes = [() => sandboxSetup?.close(), () => store.close()];
    await closeHalfStarted({ engine, cluster, closes, log });
    throw error;
  }
}

function registryOf(tools: readonly AnyTool[] | ToolRegistry): ToolRegistry {
  if (tools instanceof ToolRegistry) return tools;
  const registry = new ToolRegistry();
  for (const one of tools) registry.register(one);
  return registry;
}

/** Applies changes of the registry to the engine. */
function followerOf({ engine, host: { log } }: EngineContext): RegistryFollower {
  return {
    ...engine.serverTools.follower(),
    warned: ({ module, method, parameter, type, message }) =>
      log.warn('registry.type_unknown', { module, method, parameter, type, message }),
  };
}
