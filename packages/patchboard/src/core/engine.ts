import { rfc3339 } from '@patchboard/wire';
import type { EngineParts } from './engine-parts.ts';
import { isAsApproved } from './call/as-approved.ts';
import { Approvals } from './steps/approvals.ts';
import { isOpen, type Call } from './call/call.ts';
import { waitsForInput } from './call/input.ts';
import { Calls } from './steps/calls.ts';
import { ClientInputs } from './devices/client-inputs.ts';
import { ClientResults } from './devices/client-results.ts';
import { ClientQueueProvider } from './devices/client-queue-provider.ts';
import { DeviceProvider } from './devices/device-provider.ts';
import { Devices } from './devices/devices.ts';
import { denialFailure } from './steps/admission.ts';
import { InProcessProvider } from './providers/in-process-provider.ts';
import { Providers } from './providers/providers.ts';
import { EventFeed } from './ledger/events.ts';
import type { RefusedCall } from './ledger/ledger.ts';
import { failure, foreignText, messageOf, type Failure, type RateRefusal } from './failures.ts';
import { drainCalls } from './call/drain.ts';
import type { Guard } from './access/guard.ts';
import { mayCall } from './access/may-call.ts';
import type { CallRequest, Submitted } from './call/call-request.ts';
import { InputChecks } from './call/input-checks.ts';
import { InputRequests } from './call/input-requests.ts';
import { InputResponses } from './steps/input-responses.ts';
import { Intake } from './steps/intake.ts';
import { Recorder } from './steps/record-call.ts';
import { Refusals } from './steps/refusals.ts';
import { Lifecycle } from './call/lifecycle.ts';
import { publishProgress } from './call/caller-events.ts';
import { eventContent } from './call/listed-content.ts';
import type { Limits } from './limits.ts';
import type { OpenLoad } from './call/open-calls.ts';
import { ClientQueues } from './devices/client-queues.ts';
import type { BadOutcome } from './call/outcome.ts';
import { Pools } from './devices/pools.ts';
import { Previews } from './steps/preview.ts';
import type { Principal } from './access/principal.ts';
import { recover, type RecoveryReport } from './call/recovery.ts';
import { withoutContract, type RegisteredTool } from './tools/registered-tool.ts';
import { ToolIndex } from './tools/tool-index.ts';
import type { InProcessCaller, LiveCall } from './call/live-call.ts';
import type { Pack } from './tools/server-tool.ts';
import { Resources } from './resources/resources.ts';
import { ResponseCache } from './steps/response-cache.ts';
import { Runs } from './call/runs.ts';
import { ServerToolService } from './tools/server-tool-service.ts';
import { Tasks } from './tasks.ts';
import type { TenantDirectory } from './access/tenant-directory.ts';
import { ClientToolService } from './devices/client-tool-service.ts';
import { ToolMemory } from './tools/tool-memory.ts';
import { UpstreamService } from './upstreams/upstream-service.ts';
import { unknownTool } from './tools/unknown-tool.ts';
import { Waiters } from './call/waiters.ts';

export interface EngineLoad {
  readonly open: number;
  readonly byState: OpenLoad['byState'];
  readonly waitingForSlot: number;
  readonly waitingForApproval: number;
  /** Calls that execute in this process, without those that clients run. */
  readonly executing: number;
}

/**
 * Wires the steps of a call together. Every API submits its calls here; the guard authorizes them, and providers run
 * them.
 */
export class Engine {
  /** Differs for every engine: a gateway recognises itself by it. */
  readonly instanceId: string;
  readonly toolIndex: ToolIndex;
  readonly clientTools: ClientToolService;
  readonly clientQueues: ClientQueues;
  readonly pools: Pools = new Pools();
  readonly devices: Devices;
  readonly clients: ClientResults;
  readonly clientInputs: ClientInputs;
  readonly feed: EventFeed;
  readonly guard: Guard;
  readonly runs: Runs;
  readonly calls: Calls;
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
  readonly #tasks: Tasks;
  readonly #memory: ToolMemory;
  readonly #lifecycle: Lifecycle;
  readonly #inProcess: InProcessProvider;
  readonly #providers: Providers;
  readonly #recorder: Recorder;
  readonly #intake: Intake;
  readonly #waiters: Waiters;
  readonly #approvals: Approvals;
  readonly #inputs: InputResponses;
  readonly #responses: ResponseCache;
  readonly #endedListeners: Set<(call: Call) => void> = new Set();
  /** Of the drain: calls that end, or give up their slot to wait for input. */
  readonly #idleListeners: Set<() => void> = new Set();
  readonly #refusedListeners: Set<(refused: RefusedCall) => void> = new Set();
  readonly #fencedListeners: Set<(problem: string) => void> = new Set();
  #draining = false;
  #fencedBy: Failure | null = null;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    const { clock, log, limits } = parts;
    this.instanceId = parts.ids.secret(128);
    this.guard = parts.guard;
    this.tenants = parts.tenants;
    this.toolIndex = new ToolIndex(parts);
    this.clientQueues = new ClientQueues((call) =>
      isAsApproved(call, this.toolIndex.find(call.tenant, call.toolName)),
    );
    const tools = { ...parts, toolIndex: this.toolIndex, memory: new ToolMemory(limits.toolsPerTenant) };
    this.clientTools = new ClientToolService({ ...tools, pools: this.pools });
    this.feed = new EventFeed(parts);
    const checks = new InputChecks(parts.schemas);
    this.resources = new Resources({ ...parts, feed: this.feed, checks });
    parts.tenants.onReplaced((tenant) => this.#packsChanged(tenant));
    this.#tasks = new Tasks(log);
    this.serverTools = new ServerToolService({ ...tools, tasks: this.#tasks });
    this.upstreams = new UpstreamService({
      ...tools,
      tasks: this.#tasks,
      feed: this.feed,
      packs: this.packs,
    });
    this.#memory = tools.memory;
    const ended = (call: Call): void => this.#ended(call);
    const dropped = (call: Call): void => this.#dropped(call);
    const cancelled = (live: LiveCall, reason: string | null): void =>
      this.#providers.ofCall(live.call).cancel(live, reason);
    this.#lifecycle = new Lifecycle({
      ...parts,
      cancelled,
      ended,
      dropped,
      toolOf: (call) => {
        const tool = this.toolIndex.find(call.tenant, call.toolName);
        return tool?.version === call.toolVersion ? tool : undefined;
      },
      movedElsewhere: (call) => this.#movedElsewhere(call),
      respondedElsewhere: (live) => this.#tasks.start('input given', () => this.#inputs.resume(live)),
    });
    this.#responses = new ResponseCache(clock);
    this.#waiters = new Waiters(this.#lifecycle.wheel);
    this.runs = new Runs({ ...parts, lifecycle: this.#lifecycle });
    const shared = {
      ...parts,
      toolIndex: this.toolIndex,
      clientQueues: this.clientQueues,
      lifecycle: this.#lifecycle,
      tasks: this.#tasks,
      feed: this.feed,
      progress: (live: LiveCall, data: unknown) =>
        publishProgress({ feed: this.feed, clock, log }, live, eventContent(parts.redactor.value(data))),
    };
    const inputRequests = new InputRequests({
      ...shared,
      checks,
      inputRequired: (live) => this.#inputRequired(live),
    });
    const queue = new ClientQueueProvider(this.clientQueues, (call) => this.#waiters.inputGiven(call));
    const provider = new DeviceProvider({ ...shared, pools: this.pools, queue });
    this.devices = new Devices({ ...shared, clientTools: this.clientTools, provider });
    this.clients = new ClientResults(shared);
    this.clientInputs = new ClientInputs({ ...shared, requests: inputRequests, waiters: this.#waiters });
    this.#inProcess = new InProcessProvider({ ...shared, inputRequests });
    this.#providers = new Providers({ server: this.#inProcess, client: provider });
    const steps = {
      ...shared,
      providers: this.#providers,
      responses: this.#responses,
      isDraining: () => this.#draining,
      fenced: () => this.#fencedBy,
    };
    this.#recorder = new Recorder(steps);
    const refused = (call: RefusedCall): void => this.#refusedListeners.forEach((listener) => listener(call));
    const refusals = new Refusals({ ...steps, recorder: this.#recorder, refused });
    this.#intake = new Intake({ ...steps, recorder: this.#recorder, refusals });
    this.previews = new Previews({ ...steps, intake: this.#intake });
    this.#approvals = new Approvals(steps);
    this.#inputs = new InputResponses({ ...steps, checks });
    this.calls = new Calls({
      ...steps,
      runs: this.runs,
      waiters: this.#waiters,
      approvals: this.#approvals,
      inputs: this.#inputs,
    });
    parts.peers.onMoved((callId, version) => this.#moved(callId, version));
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
    await this.#memory.load(this.#parts.store);
    await this.upstreams.restore();
    await this.clientTools.restore();
    const recovery = {
      ...this.#parts,
      lifecycle: this.#lifecycle,
      tasks: this.#tasks,
      toolIndex: this.toolIndex,
      recovered: (live: LiveCall, tool: RegisteredTool | undefined) =>
        this.#providers.ofCall(live.call).recover(live, tool),
      start: (live: LiveCall) => this.#start(live),
      releaseApproved: (live: LiveCall) => this.#approvals.release(live),
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
    this.#providers.ofCall(live.call).start(live);
    // The node that held the call may have gone before it read the response that another one recorded.
    if (live.call.state.name === 'INPUT_REQUIRED')
      this.#tasks.start('input given', () => this.#inputs.resume(live));
  }

  /** Resolves when the receipt is durable. */
  submit(request: CallRequest, principal: Principal): Promise<Submitted> {
    return this.#intake.submit(request, principal);
  }

  /** Records a request directly in an end state. Returns null if its run was cancelled. */
  async recordEnded(request: CallRequest, principal: Principal, outcome: BadOutcome): Promise<Call | null> {
    const tool = this.toolIndex.find(principal.tenant, request.toolName);
    return await this.#recorder.recordEnded(request, principal, tool, outcome);
  }

  /** After a restart: attaches a resumed agent, with its hooks, to an open call of its own. */
  serve(callId: string, caller: InProcessCaller): void {
    const live = this.#lifecycle.find(callId);
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

  /** Returns the state of the narrowest rate limit of the principal for that tool; null if there is none. */
  rateOf(principal: Principal, toolName: string): RateRefusal | null {
    if (this.tool(principal, toolName) === undefined) return null;
    return this.#parts.rates.remaining(principal, toolName);
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
    this.#endedListeners.add(listener);
    return () => {
      this.#endedListeners.delete(listener);
    };
  }

  /** Calls `listener` with each refused request that has a ledger row. */
  onRefused(listener: (refused: RefusedCall) => void): void {
    this.#refusedListeners.add(listener);
  }

  /** Calls `listener` if another process has taken over the store, at once if it has: this engine must be closed. */
  onFenced(listener: (problem: string) => void): () => void {
    this.#fencedListeners.add(listener);
    if (this.#fencedBy !== null) listener(this.#fencedBy.message);
    return () => {
      this.#fencedListeners.delete(listener);
    };
  }

  /** Counts the open calls of one tenant or, with null, of all. */
  load(tenant: string | null = null): EngineLoad {
    const { calls: open, byState } =
      tenant === null ? this.#lifecycle.open.all : this.#lifecycle.open.of(tenant);
    const { waiting: waitingForSlot, executing } = this.#inProcess.load(tenant);
    return { open, byState, waitingForSlot, waitingForApproval: byState.APPROVAL_REQUIRED, executing };
  }

  /** Refuses new calls, waits up to `drainMs` for running ones, then seals those that still run in this process. */
  async drain(): Promise<void> {
    this.#draining = true;
    this.#providers.stop();
    this.#waiters.close();
    // Calls that are being recorded now would otherwise start after the drain.
    await this.#intake.idle();
    await drainCalls({
      ...this.#parts,
      lifecycle: this.#lifecycle,
      onIdle: (listener) => {
        this.#idleListeners.add(listener);
        return () => this.#idleListeners.delete(listener);
      },
    });
    this.devices.disconnectAll();
    await this.upstreams.close();
    this.#lifecycle.close();
    this.resources.close();
    await this.#tasks.drain();
    this.feed.close();
  }

  #inputRequired({ call, caller }: LiveCall): void {
    this.#waiters.inputRequired(call);
    for (const listener of this.#idleListeners) listener();
    try {
      caller.onInputRequired?.(call);
    } catch (error) {
      this.#parts.log.error('call.listener_failed', { tool_call_id: call.id, error: messageOf(error) });
    }
  }

  /** The tenant may have other tools now: its clients list them again. */
  #packsChanged(tenant: string): void {
    const at = rfc3339(this.#parts.clock.now());
    this.feed.changed('registry.changed', (principal) => (principal.tenant === tenant ? { at } : null));
  }

  #moved(callId: string, version: number): void {
    if (this.#lifecycle.find(callId) === undefined && !this.#waiters.has(callId)) return;
    this.#tasks.start('call moved', () => this.#lifecycle.look(callId, version));
  }

  /** Another node manages the call, or has ended it: only that node counts and logs the end. */
  #movedElsewhere(call: Call): void {
    this.#responses.dropped(call);
    if (!isOpen(call)) this.#waiters.wake(call);
    else if (waitsForInput(call)) this.#waiters.inputRequired(call);
    for (const listener of this.#idleListeners) listener();
  }

  /** No write succeeds any more: stops all work, releases the waiters and refuses new calls. */
  #fenced(problem: string): void {
    if (this.#fencedBy !== null) return;
    this.#fencedBy = failure('storage_unavailable', foreignText(problem));
    this.#draining = true;
    this.#parts.log.error('engine.fenced', { problem });
    this.#providers.stop();
    this.#lifecycle.fence(problem);
    this.#waiters.close();
    for (const listener of this.#idleListeners) listener();
    for (const listener of this.#fencedListeners) listener(problem);
  }

  #dropped(call: Call): void {
    this.#responses.dropped(call);
    this.#waiters.abandon(call.id);
  }

  #ended(call: Call): void {
    this.#responses.ended(call);
    this.#waiters.wake(call);
    for (const listener of this.#endedListeners) listener(call);
    for (const listener of this.#idleListeners) listener();
  }
}
