import type { AgentHandle } from '../../src/core/agent-handle.ts';
import { Engine } from '../../src/core/engine.ts';
import type { Guard } from '../../src/core/access/guard.ts';
import { GrantService } from '../../src/core/access/grant-service.ts';
import { GrantIndex } from '../../src/core/access/grants.ts';
import type { Hooks } from '../../src/core/hooks/hooks.ts';
import type { Call } from '../../src/core/call/call.ts';
import type { CallRequest, Submitted } from '../../src/core/call/call-request.ts';
import { resolveLimits, type Limits } from '../../src/core/limits.ts';
import { PolicyGuard } from '../../src/core/access/policy-guard.ts';
import { EMPTY_POLICY } from '../../src/core/access/policy/document.ts';
import { singleNode, type Peers } from '../../src/core/peers.ts';
import type { Clock, Ids, Log, Store } from '../../src/core/ports.ts';
import type { Principal } from '../../src/core/access/principal.ts';
import { DEFAULT_RATES, RateLimits, type Rates } from '../../src/core/access/rate-limits.ts';
import { TenantDirectory } from '../../src/core/access/tenant-directory.ts';
import { Redactor } from '../../src/core/call/redaction.ts';
import { NO_WORKSPACES, type Workspaces } from '../../src/core/workspaces.ts';
import { SCOPES_OF_KIND } from '../../src/core/access/scopes.ts';
import type { ServerTool, ToolContext } from '../../src/core/tools/server-tool.ts';
import type { Upstream } from '../../src/core/upstreams/upstream.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { timeOrderedIds } from '../../src/runtime/ids.ts';
import { jsonSchemas } from '../../src/schemas/json-schemas.ts';
import { memoryStore } from '../../src/store/memory/memory-store.ts';
import { FakeClock } from './fake-clock.ts';

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };

export function aPrincipal(given: Partial<Principal> = {}): Principal {
  return {
    kind: 'local',
    id: 'local',
    tenant: 'default',
    scopes: new Set(SCOPES_OF_KIND.local),
    agentId: 'local',
    clientId: null,
    credential: null,
    ...given,
  };
}

export function aServerTool(given: Partial<ServerTool> & Pick<ServerTool, 'name'>): ServerTool {
  return {
    description: 'a tool',
    inputSchema: { type: 'object' },
    outputSchema: null,
    timeoutMs: 5000,
    annotations: {},
    metadata: null,
    concurrency: null,
    execute: (args) => Promise.resolve({ echo: args }),
    ...given,
  };
}

/** An in-process agent with a fixed name. */
export function anAgentHandle(name: string): AgentHandle {
  return { id: 'run_1', name, depth: 0, spawn: () => Promise.reject(new Error('no sub-agents here')) };
}

export function aRequest(given: Partial<CallRequest> & Pick<CallRequest, 'toolName'>): CallRequest {
  return {
    runId: 'run_1',
    args: {},
    ...given,
  };
}

/** The call of an accepted request. */
export function accepted(submitted: Submitted): Call {
  if (submitted.kind !== 'accepted') throw new Error(`not accepted: ${submitted.failure.message}`);
  return submitted.call;
}

/** Submits a call of the local principal. */
export async function submitted({ engine }: EngineFixture, toolName: string): Promise<Call> {
  return accepted(await engine.submit(aRequest({ toolName }), aPrincipal()));
}

/** A tool whose calls end when the test says so. */
export function manualTool(name: string, given: Partial<Parameters<typeof aServerTool>[0]> = {}) {
  const running = new Map<
    string,
    { context: ToolContext; resolve: (value: unknown) => void; reject: (error: unknown) => void }
  >();
  const tool = aServerTool({
    name,
    execute: (_args, context) =>
      new Promise((resolve, reject) => running.set(context.callId, { context, resolve, reject })),
    ...given,
  });
  return { tool, running };
}

export interface EngineFixture {
  readonly engine: Engine;
  readonly clock: FakeClock;
  readonly store: Store;
}

const schemas = jsonSchemas();

/** An engine over a memory store and a clock that stands still. */
export async function anEngine(given: {
  tools?: readonly ServerTool[];
  limits?: Partial<Limits>;
  clock?: FakeClock;
  /** The engine's clock, if it is derived from `clock`. */
  engineClock?: Clock;
  ids?: Ids;
  store?: Store;
  peers?: Peers;
  guard?: Guard;
  log?: Log;
  hooks?: readonly Hooks[];
  rates?: Rates;
  redact?: readonly string[];
  workspaces?: Workspaces;
  tenants?: TenantDirectory;
  upstreams?: readonly Upstream[];
}): Promise<EngineFixture> {
  const fake = given.clock ?? new FakeClock();
  const clock = given.engineClock ?? fake;
  const store = given.store ?? memoryStore({ digest: nodeDigest });
  const index = new GrantIndex(nodeDigest);
  const ids = given.ids ?? timeOrderedIds(clock);
  const tenants = given.tenants ?? new TenantDirectory();
  const engine = new Engine({
    store,
    peers: given.peers ?? singleNode(store),
    clock,
    ids,
    log: given.log ?? silentLog,
    digest: nodeDigest,
    schemas,
    limits: resolveLimits(given.limits),
    guard: given.guard ?? new PolicyGuard({ version: 0, document: EMPTY_POLICY }, index, clock),
    hooks: given.hooks ?? [],
    grants: new GrantService({ store, index, clock, ids, digest: nodeDigest }),
    rates: new RateLimits(given.rates ?? DEFAULT_RATES, clock, tenants),
    redactor: new Redactor(given.redact ?? []),
    workspaces: given.workspaces ?? NO_WORKSPACES,
    tenants,
  });
  engine.addPack({ name: 'test', tools: given.tools ?? [] });
  for (const upstream of given.upstreams ?? []) engine.upstreams.add(upstream);
  await engine.start();
  return { engine, clock: fake, store };
}
