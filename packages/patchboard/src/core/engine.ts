import { rfc3339 } from '@patchboard/wire';
import type { Guard } from './access/guard.ts';
import { mayCall } from './access/may-call.ts';
import type { Principal } from './access/principal.ts';
import type { TenantDirectory } from './access/tenant-directory.ts';
import type { CallRequest, Submitted } from './call/call-request.ts';
import type { Call } from './call/call.ts';
import { drainCalls } from './call/drain.ts';
import type { InProcessCaller, LiveCall } from './call/live-call.ts';
import type { OpenLoad } from './call/open-calls.ts';
import type { BadOutcome } from './call/outcome.ts';
import { recover, type RecoveryReport } from './call/recovery.ts';
import type { Runs } from './call/runs.ts';
import type { ClientCallsElsewhere } from './devices/client-calls-elsewhere.ts';
import type { ClientInputs } from './devices/client-inputs.ts';
import type { ClientQueues } from './devices/client-queues.ts';
import type { ClientResults } from './devices/client-results.ts';
import type { ClientToolService } from './devices/client-tool-service.ts';
import type { Devices } from './devices/devices.ts';
import type { Pools } from './devices/pools.ts';
import type { EngineParts } from './engine-parts.ts';
import { EngineServices } from './engine-services.ts';
import type { Failure, RateRefusal } from './failures.ts';
import type { EventFeed } from './ledger/events.ts';
import type { RefusedCall } from './ledger/ledger.ts';
import type { Limits } from './limits.ts';
import type { Resources } from './resources/resources.ts';
import type { Searches } from './search/searches.ts';
import type { SharedChanges } from './shared-changes.ts';
import type { Signals } from './signals.ts';
import { denialFailure } from './steps/admission.ts';
import type { Calls } from './steps/calls.ts';
import type { Intake } from './steps/intake.ts';
import type { Previews } from './steps/preview.ts';
import { followElsewhere } from './steps/reports-elsewhere.ts';
import { withoutContract, type RegisteredTool } from './tools/registered-tool.ts';
import type { ServerToolService } from './tools/server-tool-service.ts';
import type { Pack } from './tools/server-tool.ts';
import type { ToolIndex } from './tools/tool-index.ts';
import { unknownTool } from './tools/unknown-tool.ts';
import type { UpstreamService } from './upstreams/upstream-service.ts';

export interface EngineLoad {
  readonly open: number;
  readonly byState: OpenLoad['byState'];
  readonly waitingForSlot: number;
  readonly waitingForApproval: number;
  /** Calls that execute in this process, without those that clients run. */
  readonly executing: number;
}

/**
 * Every API submits its calls here; the guard authorizes them, and providers run them. `EngineServices` wires the steps of
 * a call together.
 */
export class Engine {
  /** Differs for every engine: a gateway recognises itself by it. */
  readonly instanceId: string;
  /** Messages to the same services of other nodes. */
  readonly signals: Signals;
  /** Applies what other nodes have stored. */
  readonly changes: SharedChanges;
  readonly toolIndex: ToolIndex;
  readonly clientTools: ClientToolService;
  readonly clientQueues: ClientQueues;
  /** Takes calls of clients from other nodes. */
  readonly callsElsewhere: ClientCallsElsewhere;
  readonly pools: Pools;
  readonly devices: Devices;
  readonly clients: ClientResults;
  readonly clientInputs: ClientInputs;
  readonly feed: EventFeed;
  readonly guard: Guard;
  readonly runs: Runs;
  readonly calls: Calls;
  /** Lists of calls by query, refused requests, metrics and counts of runs. */
  readonly searches: Searches;
  readonly previews: Previews;
  /** Adds and removes server tools at run time. */
  readonly serverTools: ServerToolService;
  /** MCP servers and HTTP APIs whose tools this engine offers. */
  readonly upstreams: UpstreamService;
  /** Resources, resource templates and prompts. */
  readonly resources: Resources;
  readonly tenants: TenantDirectory;
  /** Names of the packs that were added. */
  readonly packs: Set<string> = new Set();
  readonly #parts: EngineParts;
  readonly #services: EngineServices;
  readonly #intake: Intake;
  readonly #refusedListeners: Set<(refused: RefusedCall) => void> = new Set();
  #draining = false;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.instanceId = parts.ids.secret(128);
    this.guard = parts.guard;
    this.tenants = parts.tenants;
    const services = new EngineServices(parts, {
      packs: this.packs,
      isDraining: () => this.#draining,
      toolsChanged: (tenant) => this.#packsChanged(tenant),
      refused: (call) => this.#refusedListeners.forEach((listener) => listener(call)),
    });
    this.#services = services;
    this.#intake = services.intake;
    this.changes = services.changes;
    this.signals = services.signals;
    this.toolIndex = services.toolIndex;
    this.clientTools = services.clientTools;
    this.clientQueues = services.clientQueues;
    this.callsElsewhere = services.callsElsewhere;
    this.pools = services.pools;
    this.devices = services.devices;
    this.clients = services.clients;
    this.clientInputs = services.clientInputs;
    this.feed = services.feed;
    this.runs = services.runs;
    this.calls = services.calls;
    this.searches = services.searches;
    this.previews = services.previews;
    this.serverTools = services.serverTools;
    this.upstreams = services.upstreams;
    this.resources = services.resources;
    parts.tenants.onReplaced((tenant) => this.#packsChanged(tenant));
    parts.rates.share(parts.peers);
    parts.peers.onMoved(
      (callId, version) => this.#moved(callId, version),
      () => ({ held: services.lifecycle.all().map(({ call }) => call), awaited: services.waiters.awaited() }),
    );
    parts.peers.onFenced((problem) => this.#fenced(problem));
  }

  get limits(): Readonly<Limits> {
    return this.#parts.limits;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  /** Throws if a tool, resource or prompt of the pack is invalid: packs are part of the program, so that is a bug. */
  addPack(pack: Pack): void {
    this.packs.add(pack.name);
    if (pack.mustBeNamed === true) this.tenants.mustBeNamed(pack.name);
    this.serverTools.addPack(pack);
    const problem = this.resources.add(pack, { pack: pack.name });
    if (problem !== null) throw new Error(problem.message);
    if (pack.resourceSource !== undefined) this.resources.follow(pack.resourceSource, { pack: pack.name });
  }

  /**
   * Called once, after the packs and upstreams were added: restores the tools of upstreams and clients, recovers the open
   * calls that fell to this node, and connects the upstreams.
   */
  async start(): Promise<RecoveryReport> {
    const { memory, lifecycle, tasks, providers, approvals } = this.#services;
    await memory.load(this.#parts.store);
    await this.upstreams.restore();
    await this.#services.storedTools.restore();
    await this.changes.catchUp();
    const recovery = {
      ...this.#parts,
      lifecycle,
      tasks,
      toolIndex: this.toolIndex,
      recovered: (live: LiveCall, tool: RegisteredTool | undefined) =>
        providers.ofCall(live.call).recover(live, tool),
      start: (live: LiveCall) => this.#start(live),
      releaseApproved: (live: LiveCall) => approvals.release(live),
    };
    let atStart: RecoveryReport | null = null;
    await this.#parts.peers.onOrphaned(async (calls) => {
      const report = await recover(recovery, calls);
      atStart ??= report;
    });
    this.upstreams.start();
    return atStart ?? { resumed: 0, sealed: 0 };
  }

  #start(live: LiveCall): void {
    // Another process has taken over the store since the call was read.
    if (live.ownership === 'lost') return;
    const { providers, tasks, inputs } = this.#services;
    providers.ofCall(live.call).start(live);
    // The node that held the call may have gone before it read the response that another one recorded.
    if (live.call.state.name === 'INPUT_REQUIRED') tasks.start('input given', () => inputs.resume(live));
  }

  /** Resolves when the receipt is durable. */
  submit(request: CallRequest, principal: Principal): Promise<Submitted> {
    return this.#intake.submit(request, principal);
  }

  /** Records a request directly in an end state. Returns null if its run was cancelled. */
  async recordEnded(request: CallRequest, principal: Principal, outcome: BadOutcome): Promise<Call | null> {
    const tool = this.toolIndex.find(principal.tenant, request.toolName);
    return await this.#services.recorder.recordEnded(request, principal, tool, outcome);
  }

  /**
   * With other nodes: passes what the call reports while another one runs it to the caller. The returned function ends
   * that.
   */
  followElsewhere(call: Call, caller: InProcessCaller): () => void {
    if (this.#parts.peers.isSingle) return () => {};
    const { feed, lifecycle } = this.#services;
    return followElsewhere({ feed, lifecycle, clock: this.#parts.clock }, call, caller);
  }

  /** After a restart: attaches a resumed agent, with its hooks, to an open call of its own. */
  serve(callId: string, caller: InProcessCaller): void {
    const live = this.#services.lifecycle.find(callId);
    if (live !== undefined) live.caller = caller;
  }

  /**
   * Charges the caller's rate limit for parsing a model's reply. `paid`: the tokens that its calls are charged
   * themselves. Returns null if allowed.
   */
  chargeReply(principal: Principal, bytes: number, paid = 0): Failure | null {
    return this.#parts.rates.reply(principal, bytes, paid);
  }

  /** Charges the caller's rate limit for a request that makes no call. Returns null if allowed. */
  chargeRequest(principal: Principal): Failure | null {
    return this.#parts.rates.request(principal);
  }

  /**
   * Returns the state of the narrowest rate limit of the principal for that tool; null if there is none, or the principal may
   * never call the tool.
   */
  rateOf(principal: Principal, tool: RegisteredTool): RateRefusal | null {
    return mayCall(this.guard, principal, tool) ? this.#parts.rates.remaining(principal, tool.name) : null;
  }

  /** Lists the tools that the principal may call. */
  tools(principal: Principal): RegisteredTool[] {
    return this.toolIndex.list(principal.tenant).filter((tool) => mayCall(this.guard, principal, tool));
  }

  /** Lists all tools of the tenant, to parse requests with; those that the principal may not call have no schema. */
  namedTools(principal: Principal): RegisteredTool[] {
    return this.toolIndex
      .list(principal.tenant)
      .map((tool) => (mayCall(this.guard, principal, tool) ? tool : withoutContract(tool)));
  }

  /** Lists all tools that the policy allows the principal, even those whose audience excludes it. */
  visibleTools(principal: Principal): RegisteredTool[] {
    return this.toolIndex.list(principal.tenant).filter((tool) => this.guard.lists(principal, tool));
  }

  /** Finds a tool by name or wire name; undefined also for one that the principal may never call. */
  tool(principal: Principal, name: string): RegisteredTool | undefined {
    const tool = this.toolIndex.find(principal.tenant, name);
    return tool !== undefined && mayCall(this.guard, principal, tool) ? tool : undefined;
  }

  /** As `tool`, and finds one that another node has registered a moment ago. */
  async findTool(principal: Principal, name: string): Promise<RegisteredTool | undefined> {
    const tool = this.tool(principal, name);
    if (tool !== undefined || !(await this.changes.afterMiss())) return tool;
    return this.tool(principal, name);
  }

  /** The failure for a name that no tool has. */
  unknownTool(principal: Principal, name: string): Failure {
    return unknownTool(this, principal, name);
  }

  /** Why `tool` returned undefined: no tool has that name, or the principal may never call it. */
  async noTool(principal: Principal, name: string): Promise<Failure> {
    const tool = this.toolIndex.find(principal.tenant, name);
    if (tool === undefined) return this.unknownTool(principal, name);
    const request = { toolName: name, runId: '', args: {} };
    return denialFailure((await this.#intake.deny('', tool, request, principal)).decision);
  }

  onEnded(listener: (call: Call) => void): () => void {
    return this.#services.notifier.onEnded(listener);
  }

  /** Calls `listener` with each refused request that has a ledger row. */
  onRefused(listener: (refused: RefusedCall) => void): void {
    this.#refusedListeners.add(listener);
  }

  /** The failure of every request to a fenced engine, see `onFenced`; null: it is not fenced. */
  get fenced(): Failure | null {
    return this.#services.fencing.failure;
  }

  /** Calls `listener` if another process has taken over the store, at once if it has: this engine must be closed. */
  onFenced(listener: (problem: string) => void): () => void {
    return this.#services.fencing.onFenced(listener);
  }

  /** Counts the open calls of one tenant or, with null, of all. */
  load(tenant: string | null = null): EngineLoad {
    const { lifecycle, inProcess } = this.#services;
    const { calls: open, byState } = tenant === null ? lifecycle.open.all : lifecycle.open.of(tenant);
    const { waiting: waitingForSlot, executing } = inProcess.load(tenant);
    return { open, byState, waitingForSlot, waitingForApproval: byState.APPROVAL_REQUIRED, executing };
  }

  /**
   * Refuses new calls, waits up to `drainMs` for running ones, then seals those that still run in this process. With other
   * nodes, passes those that wait to them.
   */
  async drain(drainMs: number = this.limits.drainMs): Promise<void> {
    const { providers, inProcess, waiters, lifecycle, notifier, tasks } = this.#services;
    this.#draining = true;
    providers.stop();
    waiters.close();
    // Calls that are being recorded now would otherwise start after the drain.
    await this.#intake.idle();
    await drainCalls({
      ...this.#parts,
      drainMs,
      lifecycle,
      isBeginning: (live) => inProcess.isBeginning(live),
      onIdle: (listener) => notifier.onIdle(listener),
    });
    this.devices.disconnectAll();
    await this.upstreams.close();
    lifecycle.close();
    this.resources.close();
    await tasks.drain();
    if (!this.#parts.peers.isSingle) await this.#handOver();
    this.feed.close();
  }

  /** Passes the calls that wait, for a slot, a person or a client, to other nodes. */
  async #handOver(): Promise<void> {
    this.#services.lifecycle.leave();
    await this.#parts.peers.handOver();
  }

  /** The tenant may have other tools now: its clients list them again. */
  #packsChanged(tenant: string): void {
    const at = rfc3339(this.#parts.clock.now());
    this.feed.changed('registry.changed', (principal) => (principal.tenant === tenant ? { at } : null));
  }

  #moved(callId: string, version: number): void {
    const { lifecycle, waiters, tasks } = this.#services;
    if (lifecycle.find(callId) === undefined && !waiters.has(callId)) return;
    tasks.start('call moved', () => lifecycle.refresh(callId, version));
  }

  /** No write succeeds any more: refuses new calls and stops all work. */
  #fenced(problem: string): void {
    this.#draining = true;
    this.#services.fencing.fence(problem);
  }
}
