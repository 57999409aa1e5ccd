import type { AgentHost } from '../agent/agent-host.ts';
import { ActiveWork } from '../agent/active-work.ts';
import { Engine } from '../core/engine.ts';
import { GrantService } from '../core/access/grant-service.ts';
import { GrantIndex } from '../core/access/grants.ts';
import type { AgentHooks } from '../sdk/agent-hooks.ts';
import { followAccessChanges } from '../core/access/access-changes.ts';
import type { AdminServices } from '../core/access/admin-services.ts';
import { KeyService } from '../core/access/key-service.ts';
import { withinHeap, type Limits } from '../core/limits.ts';
import { PolicyGuard } from '../core/access/policy-guard.ts';
import { PolicyService } from '../core/access/policy-service.ts';
import type { Nodes } from '../core/nodes.ts';
import { singleNode, type Peers } from '../core/peers.ts';
import type { Clock, Log, Schemas, Store } from '../core/ports.ts';
import { DEFAULT_TENANT, type Principal } from '../core/access/principal.ts';
import { RateLimits, type Rates } from '../core/access/rate-limits.ts';
import { Redactor } from '../core/call/redaction.ts';
import { SCOPES_OF_KIND } from '../core/access/scopes.ts';
import type { Workspaces } from '../core/workspaces.ts';
import type { TenantDirectory } from '../core/access/tenant-directory.ts';
import { TenantService } from '../core/access/tenant-service.ts';
import { logEndedCall, logRefusedCall } from '../runtime/call-log.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { timeOrderedIds } from '../runtime/ids.ts';
import { nodeClock } from '../runtime/node-clock.ts';
import { nodeHeap } from '../runtime/node-heap.ts';
import { SILENT_LOG } from '../runtime/silent-log.ts';
import { WARNING_LOG } from '../runtime/warning-log.ts';
import { callTracer } from '../runtime/tracing.ts';
import { jsonSchemas } from '../schemas/json-schemas.ts';
import { VERSION } from '../version.ts';
import { singleNodeList } from './single-node-list.ts';
import { ownResources } from './own-resources.ts';
import type { SandboxReport } from './sandbox-setup.ts';

export interface EngineContextOptions {
  readonly store: Store;
  readonly log: Log;
  readonly limits: Readonly<Limits>;
  /** The initial policy document of every tenant. */
  readonly policy: unknown;
  readonly rates: Rates;
  readonly redact: readonly string[];
  readonly hooks: readonly AgentHooks[];
  readonly workspaces: Workspaces;
  /** The sandbox of commands; null if no tool uses one. */
  readonly sandbox: SandboxReport | null;
  readonly tenants: TenantDirectory;
  /** Default: this node is the only one of its store. */
  readonly peers?: Peers;
  /** Default: the clock of this machine. */
  readonly clock?: Clock;
  /** Default: this node alone. */
  readonly nodes?: Nodes;
}

/** The engine and its access control (keys, grants, policies, tenants), loaded from the store; without the network. */
export interface EngineContext extends Omit<AdminServices, 'sessions'> {
  readonly engine: Engine;
  readonly store: Store;
  readonly log: Log;
  readonly clock: Clock;
  readonly sandbox: SandboxReport | null;
  readonly schemas: Schemas;
  readonly nodes: Nodes;
  /** The services for agents in this process. */
  readonly host: AgentHost;
}

/** Opens the context. The caller then adds packs and calls `engine.start()`. */
export async function openEngineContext(options: EngineContextOptions): Promise<EngineContext> {
  const { store, log, clock = nodeClock } = options;
  const ids = timeOrderedIds(clock);
  const parts = { store, ids, clock, digest: nodeDigest };
  const index = new GrantIndex(nodeDigest);
  // Until the policy is loaded, every call is denied.
  const guard = new PolicyGuard({ version: 0, document: null }, index, clock);
  const keys = new KeyService({ ...parts, log });
  const grants = new GrantService({ ...parts, index });
  const policies = new PolicyService({ store, guard, clock, initial: options.policy });
  await keys.load();
  await grants.load();
  const tenants = new TenantService({ store, clock, directory: options.tenants });
  for (const tenant of await tenants.load()) log.error('tenant.unreadable', { tenant_id: tenant });
  for (const problem of await policies.load()) log.error('policy.unreadable', { problem });
  const schemas = jsonSchemas();
  const redactor = new Redactor(options.redact);
  const engine = new Engine({
    ...parts,
    peers: options.peers ?? singleNode(store),
    log,
    schemas,
    limits: withinHeap(options.limits, nodeHeap.limitBytes),
    guard,
    hooks: options.hooks,
    grants,
    rates: new RateLimits(options.rates, clock, options.tenants),
    redactor,
    workspaces: options.workspaces,
    tenants: options.tenants,
  });
  followAccessChanges(engine.changes, { keys, policies, tenants }, log);
  const own = engine.resources.add(ownResources(engine), { pack: null, isOwn: true });
  if (own !== null) throw new Error(own.message);
  if (log !== SILENT_LOG) engine.onEnded((call) => logEndedCall(log, call));
  engine.onRefused((refused) => logRefusedCall(log, refused));
  engine.onEnded(callTracer(VERSION));
  const host: AgentHost = {
    ...parts,
    engine,
    log: log === SILENT_LOG ? WARNING_LOG : log,
    hooks: options.hooks,
    hookTimeoutMs: options.limits.hookTimeoutMs,
    activeWork: new ActiveWork(clock, options.limits.drainMs),
    principal: embeddedPrincipal,
    redact: (value) => redactor.value(value),
  };
  const nodes = options.nodes ?? singleNodeList(engine, clock);
  return {
    engine,
    store,
    log,
    clock,
    sandbox: options.sandbox,
    schemas,
    nodes,
    keys,
    grants,
    policies,
    tenants,
    host,
  };
}

const EMBEDDED_SCOPES: Principal['scopes'] = new Set(SCOPES_OF_KIND.operator);

/** The agent of an embedding program that names none. */
export const EMBEDDED_AGENT = 'embedded';

/** The principal of an embedding program: it has all scopes in its tenant and chooses the agent id. */
export function embeddedPrincipal(agentId: string = EMBEDDED_AGENT): Principal {
  return {
    kind: 'local',
    id: agentId,
    tenant: DEFAULT_TENANT,
    scopes: EMBEDDED_SCOPES,
    agentId,
    clientId: null,
    credential: null,
  };
}
