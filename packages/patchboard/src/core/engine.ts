import type { InputIssueView, ToolSourceName } from '@patchboard/wire';
import type { Answer } from './answer.ts';
import { Approvals, type OperatorDecision } from './steps/approvals.ts';
import { isOpen, type Call } from './call/call.ts';
import { ClientResults } from './devices/client-results.ts';
import { DeviceRunner } from './devices/device-runner.ts';
import { Devices } from './devices/devices.ts';
import { Dispatcher } from './steps/dispatcher.ts';
import { EventFeed } from './ledger/events.ts';
import { failure, messageOf, type RateRefusal } from './failures.ts';
import type { GrantOffice } from './access/grant-office.ts';
import type { Decision, Guard } from './access/guard.ts';
import type { Hooks } from './steps/hooks.ts';
import { Intake, type CallRequest, type Submitted } from './steps/intake.ts';
import { Lifecycle } from './call/lifecycle.ts';
import type { Limits } from './limits.ts';
import { Mailboxes } from './devices/mailboxes.ts';
import type { BadOutcome } from './call/outcome.ts';
import { Pools } from './devices/pools.ts';
import type { CallFilter, Clock, Digest, Ids, Log, Page, Schemas, Store } from './ports.ts';
import type { Principal } from './access/principal.ts';
import type { RateLimits } from './access/rate-limits.ts';
import { recover, type RecoveryReport } from './call/recovery.ts';
import type { Redactor } from './call/redaction.ts';
import type { RegisteredTool } from './tools/registered-tool.ts';
import { Registry } from './tools/registry.ts';
import type { Asker, LiveCall } from './call/live-call.ts';
import type { Pack } from './tools/server-tool.ts';
import { ResponseCache } from './steps/response-cache.ts';
import { cancelLive, Runs } from './call/runs.ts';
import { ServerTools } from './tools/server-tools.ts';
import { soon, type Soon } from './soon.ts';
import { Tasks } from './tasks.ts';
import type { TenantBook } from './access/tenant-book.ts';
import { ToolDirectory } from './tools/tool-directory.ts';
import { maySeeCall, onlyAgent } from './call/visibility.ts';
import { Waiters } from './call/waiters.ts';
import type { Workspaces } from './workspaces.ts';

export interface EngineParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly digest: Digest;
  readonly schemas: Schemas;
  readonly limits: Limits;
  readonly guard: Guard;
  /** Of the whole server. They guard every face. */
  readonly hooks: readonly Hooks[];
  readonly grants: GrantOffice;
  readonly rates: RateLimits;
  readonly redactor: Redactor;
  readonly workspaces: Workspaces;
  readonly tenants: TenantBook;
}

/** What would become of a call. */
export interface Preview {
  readonly valid: boolean;
  readonly errors: readonly InputIssueView[];
  readonly decision: Decision;
  readonly route: Route;
}

/** Who would run it, and whether they are there. */
export interface Route {
  readonly source: ToolSourceName;
  readonly clientId: string | null;
  readonly online: boolean;
}

/**
 * The one path of every call. Faces decode and encode; this decides nothing about who may ask (the guard does)
 * and runs nothing itself (providers do).
 */
export class Engine {
  readonly registry: Registry;
  readonly directory: ToolDirectory;
  readonly mailboxes: Mailboxes = new Mailboxes();
  readonly pools: Pools = new Pools();
  readonly devices: Devices;
  readonly clients: ClientResults;
  readonly feed: EventFeed;
  readonly guard: Guard;
  readonly runs: Runs;
  /** Tools of this server that come and go while it runs. */
  readonly serverTools: ServerTools;
  readonly tenants: TenantBook;
  /** Names of those that are in. */
  readonly packs: Set<string> = new Set();
  readonly #parts: EngineParts;
  readonly #tasks: Tasks;
  readonly #lifecycle: Lifecycle;
  readonly #dispatcher: Dispatcher;
  readonly #intake: Intake;
  readonly #waiters: Waiters;
  readonly #approvals: Approvals;
  readonly #responses: ResponseCache;
  readonly #endedListeners: Set<(call: Call) => void> = new Set();
  #draining = false;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    const { store, clock, log, limits } = parts;
    this.guard = parts.guard;
    this.tenants = parts.tenants;
    this.registry = new Registry(parts);
    this.directory = new ToolDirectory({
      ...parts,
      registry: this.registry,
      pools: this.pools,
      riskyNamesPerTenant: limits.toolsPerTenant,
    });
    this.feed = new EventFeed(store, parts.guard);
    this.#tasks = new Tasks(log);
    this.serverTools = new ServerTools({ ...parts, registry: this.registry, tasks: this.#tasks });
    const ended = (call: Call): void => this.#ended(call);
    this.#lifecycle = new Lifecycle({ ...parts, mailboxes: this.mailboxes, ended });
    this.#responses = new ResponseCache(clock);
    this.#waiters = new Waiters(this.#lifecycle.wheel);
    this.runs = new Runs({ ...parts, lifecycle: this.#lifecycle });
    const shared = {
      ...parts,
      registry: this.registry,
      mailboxes: this.mailboxes,
      lifecycle: this.#lifecycle,
      tasks: this.#tasks,
      feed: this.feed,
      progress: (live: LiveCall, data: unknown) =>
        this.feed.progress(live.call, clock.now(), parts.redactor.value(data)),
    };
    const runner = new DeviceRunner({ ...shared, pools: this.pools });
    this.devices = new Devices({ ...shared, directory: this.directory, runner });
    this.#dispatcher = new Dispatcher({ ...shared, devices: runner });
    this.clients = new ClientResults(shared);
    this.#intake = new Intake({
      ...shared,
      pools: this.pools,
      responses: this.#responses,
      dispatcher: this.#dispatcher,
      isDraining: () => this.#draining,
    });
    this.#approvals = new Approvals({ ...shared, dispatch: (live) => this.#dispatcher.dispatch(live) });
  }

  get limits(): Readonly<Limits> {
    return this.#parts.limits;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  /** A pack is ours: a bad tool in it is a bug and throws. */
  addPack(pack: Pack): void {
    this.packs.add(pack.name);
    if (pack.mustBeNamed === true) this.tenants.mustBeNamed(pack.name);
    for (const tool of pack.tools) {
      const added = this.registry.addServerTool(tool, pack.name);
      if (!added.ok) throw new Error(added.reason);
    }
  }

  /** Once, after the packs are in: takes up what an earlier process left. */
  async start(): Promise<RecoveryReport> {
    for (const { name, code, reason } of await this.directory.restore()) {
      this.#parts.log.warn('registry.tool_left_out', { tool_name: name, code, reason });
    }
    return await recover({
      ...this.#parts,
      lifecycle: this.#lifecycle,
      registry: this.registry,
      dispatch: (live) => this.#dispatcher.dispatch(live),
      awaitDevice: (live) => this.devices.awaitReturn(live),
      releaseApproved: (live) => this.#approvals.release(live),
    });
  }

  /** Resolves when the receipt is durable. */
  submit(request: CallRequest, principal: Principal): Promise<Submitted> {
    return this.#intake.submit(request, principal);
  }

  /** A request that came to nothing before anything could be tried. Null: its run takes no more calls. */
  async recordEnded(request: CallRequest, principal: Principal, outcome: BadOutcome): Promise<Call | null> {
    return await this.#intake.recordEnded(request, principal, outcome);
  }

  /** After a restart: an agent is back and brings its hooks to a call of its own that has not ended. */
  serve(callId: string, asker: Asker): void {
    const live = this.#lifecycle.find(callId);
    if (live !== undefined) live.asker = asker;
  }

  /** What would happen; nothing is recorded and nothing runs. */
  async preview(given: CallRequest, principal: Principal): Promise<Answer<Preview>> {
    const { request, tool, problem } = this.#intake.resolve(given, principal);
    if (tool === undefined) return { ok: false, failure: problem };
    if (problem !== null && problem.code !== 'input_invalid') return { ok: false, failure: problem };
    const admission = await this.#intake.admit('tc_preview', tool, request, principal);
    if ('code' in admission) return { ok: false, failure: admission };
    const { decision } = admission;
    const errors = problem?.issues ?? [];
    return {
      ok: true,
      value: { valid: errors.length === 0, errors, decision, route: this.route(tool, principal.tenant) },
    };
  }

  route(tool: RegisteredTool, tenant: string): Route {
    if (tool.runsOn.kind === 'server') return { source: tool.source, clientId: null, online: true };
    const { clientId } = tool.runsOn;
    const online = this.pools.isOnline(tenant, tool.name) || this.mailboxes.isOnline(tenant, clientId);
    return { source: tool.source, clientId, online };
  }

  /** What is left to the principal of the narrowest rate for that tool. */
  rateOf(principal: Principal, toolName: string): RateRefusal | null {
    return this.#parts.rates.standing(principal, toolName);
  }

  /** What this principal may call. */
  tools(principal: Principal): RegisteredTool[] {
    return this.registry.list(principal.tenant).filter((tool) => this.guard.lists(principal, tool));
  }

  /** By either name; undefined also for one that the principal may never call. */
  tool(principal: Principal, name: string): RegisteredTool | undefined {
    const tool = this.registry.find(principal.tenant, name);
    return tool !== undefined && this.guard.lists(principal, tool) ? tool : undefined;
  }

  /** A call that the principal may not see is answered like one that does not exist. */
  find(principal: Principal, id: string): Soon<Call | undefined> {
    const found = this.#lifecycle.find(id)?.call ?? this.#parts.store.findCall(id);
    return soon(found, (call) => (call !== undefined && maySeeCall(principal, call) ? call : undefined));
  }

  /** The call once it has ended, or as it is after `ms`. */
  wait(principal: Principal, id: string, ms: number, signal: AbortSignal | null): Soon<Call | undefined> {
    return soon(this.find(principal, id), (call) => {
      if (call === undefined || !isOpen(call) || ms <= 0 || this.#lifecycle.find(id) === undefined)
        return call;
      return this.#waiters.wait(id, ms, signal).then((ended) => ended ?? this.find(principal, id));
    });
  }

  /** Of its tenant, and only its own where it may see no other: whatever `wanted` says, it gets no more. */
  async list(
    principal: Principal,
    wanted: Omit<CallFilter, 'tenant'>,
    cursor: string | null,
    limit: number,
  ): Promise<Page<Call>> {
    const only = onlyAgent(principal);
    const own = only === null ? {} : { agentId: only };
    return await this.#parts.store.listCalls({ ...wanted, tenant: principal.tenant, ...own }, cursor, limit);
  }

  async cancel(principal: Principal, id: string): Promise<Answer<Call>> {
    const call = await this.find(principal, id);
    if (call === undefined) return { ok: false, failure: failure('call_not_found', `no such call: ${id}`) };
    const live = this.#lifecycle.find(id);
    if (live !== undefined && (await cancelLive(this.#lifecycle, live, principal.id)))
      return { ok: true, value: live.call };
    const standing = live?.call ?? call;
    const over = failure('conflict', `the call is already over: ${standing.state.name}`);
    return { ok: false, failure: over, call: standing };
  }

  async decide(principal: Principal, id: string, decision: OperatorDecision): Promise<Answer<Call>> {
    const call = await this.find(principal, id);
    if (call === undefined) return { ok: false, failure: failure('call_not_found', `no such call: ${id}`) };
    const live = this.#lifecycle.find(id);
    const refused =
      live === undefined
        ? failure('conflict', `call ${id} does not wait for a decision: it is ${call.state.name}`)
        : await this.#approvals.decide(live, principal, decision);
    const standing = live?.call ?? call;
    return refused === null ? { ok: true, value: standing } : { ok: false, failure: refused, call: standing };
  }

  onEnded(listener: (call: Call) => void): () => void {
    this.#endedListeners.add(listener);
    return () => {
      this.#endedListeners.delete(listener);
    };
  }

  /** What is under way in this process right now. */
  load(): { open: number; waitingForSlot: number; waitingForApproval: number; executing: number } {
    const { slots } = this.#dispatcher;
    const waitingForApproval = this.#lifecycle.all().filter(isWaitingForApproval).length;
    return {
      open: this.#lifecycle.size,
      waitingForSlot: slots.waiting,
      waitingForApproval,
      executing: slots.held('server'),
    };
  }

  /** Takes no more calls, lets running ones finish for a while, then seals what is still running here. */
  async drain(): Promise<void> {
    this.#draining = true;
    this.#dispatcher.stop();
    this.#waiters.wakeAll();
    const { clock, limits } = this.#parts;
    const running = (): LiveCall[] => this.#lifecycle.all().filter(isRunningHere);
    let callOff = (): void => {};
    const enough = new Promise<void>((resolve) => {
      callOff = clock.after(limits.drainMs, resolve);
    });
    await Promise.race([this.#quiet(running), enough]);
    callOff(); // or the process would stay for as long as it might have waited
    const sealed: BadOutcome = {
      kind: 'sealed',
      failure: failure('interrupted', 'the server was stopped while the tool was running', {
        outcome: 'unknown',
      }),
    };
    await Promise.all(running().map((live) => this.#seal(live, sealed)));
    this.devices.leaveAll();
    this.#lifecycle.close();
    await this.#tasks.drain();
    this.feed.close();
  }

  /** What cannot be written now is sealed by the next start. */
  async #seal(live: LiveCall, sealed: BadOutcome): Promise<void> {
    try {
      await this.#lifecycle.end(live, sealed);
    } catch (error) {
      this.#parts.log.error('store.write_failed', { tool_call_id: live.call.id, error: messageOf(error) });
      live.stop.fire(sealed);
    }
  }

  async #quiet(running: () => LiveCall[]): Promise<void> {
    while (running().length > 0) {
      await new Promise<void>((resolve) => {
        const stop = this.onEnded(() => {
          stop();
          resolve();
        });
      });
    }
  }

  #ended(call: Call): void {
    this.#responses.ended(call);
    this.#waiters.wake(call);
    for (const listener of this.#endedListeners) listener(call);
  }
}

function isWaitingForApproval({ call }: LiveCall): boolean {
  return call.state.name === 'APPROVAL_REQUIRED';
}

function isRunningHere({ call }: LiveCall): boolean {
  return call.clientId === null && call.state.name === 'EXECUTING';
}
