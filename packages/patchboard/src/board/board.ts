import { reason } from '@patchboard/wire';
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AgentHost } from '../agent/agent-host.ts';
import type { ClusterPeers } from '../cluster/cluster-peers.ts';
import { OPERATOR_NAME, type Principal } from '../core/access/principal.ts';
import type { Submitted } from '../core/call/call-request.ts';
import { isOpen, type Call } from '../core/call/call.ts';
import type { InProcessCaller, LiveCall } from '../core/call/live-call.ts';
import { failure } from '../core/failures.ts';
import { jsonCopy, jsonText } from '../core/json/json-copy.ts';
import type { OperatorDecision } from '../core/steps/approvals.ts';
import { noSuchCall, type FollowOptions } from '../core/steps/calls.ts';
import type { RegisteredTool } from '../core/tools/registered-tool.ts';
import { BoardError } from '../sdk/board-error.ts';
import type { DecideOptions } from '../sdk/decide-options.ts';
import type { ResourceRegistry } from '../sdk/resource-registry.ts';
import { toRecord, type ToolCallRecord } from '../sdk/tool-call-record.ts';
import type { ToolRegistry } from '../sdk/tool-registry.ts';
import type { ListeningApis } from '../wiring/apis.ts';
import { closeAll } from '../wiring/closing.ts';
import { EMBEDDED_AGENT, embeddedPrincipal, type EngineContext } from '../wiring/engine-context.ts';
import type { SandboxSetup } from '../wiring/sandbox-setup.ts';
import { boardUpstreams, type BoardUpstreams } from './board-upstreams.ts';
import { boardResources, type BoardResources } from './board-resources.ts';
import type { RespondInputOptions } from '../sdk/tool-call-input.ts';
import type { BoardApis } from './board-apis.ts';
import type { BoardKeyOptions, CallOptions, InvokeOptions, Patchboard, ToolFilter } from './board-types.ts';
import {
  checkCallOptions,
  checkDecideOptions,
  checkInvokeOptions,
  checkRespondInput,
} from './options-shape.ts';
import { InputHandler } from './input-handler.ts';
import type { Retention } from './retention.ts';

const NO_OPTIONS: CallOptions = {};

/** Dependencies of a board. */
export interface BoardParts {
  readonly context: EngineContext;
  readonly registry: ToolRegistry;
  readonly resourceRegistry: ResourceRegistry;
  /** Stops the board from following changes of its registry. */
  readonly unfollow: () => void;
  readonly apis: BoardApis;
  readonly sandboxSetup: SandboxSetup | null;
  /** Null if the store bounds itself or keeps every call. */
  readonly retention: Retention | null;
  /** Null: no other process can use the store. */
  readonly cluster: ClusterPeers | null;
}

/** The board: calls in this process. `BoardApis` serves the network. */
export class Board implements Patchboard {
  readonly registry: ToolRegistry;
  readonly resources: BoardResources;
  readonly upstreams: BoardUpstreams;
  readonly #parts: BoardParts;
  readonly #context: EngineContext;
  readonly #runId = `run_${randomBytes(8).toString('hex')}`;
  #closing: Promise<void> | null = null;

  constructor(parts: BoardParts) {
    this.#parts = parts;
    this.#context = parts.context;
    this.registry = parts.registry;
    this.resources = boardResources(parts.context.engine.resources, parts.resourceRegistry);
    this.upstreams = boardUpstreams(parts.context.engine, parts.context.host.activeWork.closing);
  }

  get host(): AgentHost {
    return this.#context.host;
  }

  tools({ tag, agentId }: ToolFilter = {}): readonly RegisteredTool[] {
    const all = this.#context.engine.tools(embeddedPrincipal(agentId));
    return tag === undefined ? all : all.filter(({ metadata }) => tagsIn(metadata).includes(tag));
  }

  async call(name: string, args: unknown = {}, options: CallOptions = NO_OPTIONS): Promise<ToolCallRecord> {
    if (options !== NO_OPTIONS) checkCallOptions(options);
    const { signal } = options;
    signal?.throwIfAborted();
    const { call: recorded, live } = await this.#submit(name, args, options);
    // A synchronous tool has ended already.
    const call = live?.call ?? recorded;
    return isOpen(call) ? await this.#ended(call.id, { cancelOn: signal, live }) : toRecord(call);
  }

  async invoke(
    name: string,
    args: unknown = {},
    options: InvokeOptions = NO_OPTIONS,
  ): Promise<ToolCallRecord> {
    if (options !== NO_OPTIONS) checkInvokeOptions(options);
    const { call } = await this.#submit(name, args, options);
    return toRecord(call);
  }

  async #submit(name: string, args: unknown, options: InvokeOptions): Promise<Recorded> {
    const { agentId = EMBEDDED_AGENT, runId = this.#runOf(agentId), idempotencyKey = null } = options;
    // Validate what will be stored: JSON turns a Date, for example, into a string.
    const json = jsonText(args);
    if (json === undefined) throw new BoardError(failure('input_invalid', reason('arguments_not_writable')));
    const storedArgs = JSON.parse(json) as unknown;
    const { engine } = this.#context;
    const principal = embeddedPrincipal(agentId);
    const inputs = this.#inputHandler(principal, options);
    const request = {
      toolName: name,
      runId,
      args: storedArgs,
      argsText: { of: storedArgs, json },
      idempotencyKey,
      // A caller that waits for the end of a call would otherwise wait until the input request expires.
      acceptsInput: options.acceptsInput ?? inputs !== null,
    };
    const submitted = await engine.submit(
      inputs === null ? request : { ...request, caller: inputs.caller },
      principal,
    );
    // The call of an earlier request with this key, maybe of an earlier process: its requests come here from now on.
    if (inputs !== null && submitted.kind === 'accepted' && submitted.duplicate) {
      engine.serve(submitted.call.id, inputs.caller);
      inputs.required(submitted.call);
    }
    if (inputs !== null && submitted.kind === 'accepted')
      this.#followElsewhere(principal, submitted.call, inputs.caller);
    return recordedCall(submitted);
  }

  /** Another node may run the call, and ask there: the caller gets its input requests until the call has ended. */
  #followElsewhere(principal: Principal, call: Call, caller: InProcessCaller): void {
    if (this.#parts.cluster === null || !isOpen(call)) return;
    const { engine } = this.#context;
    const stop = engine.followElsewhere(call, caller);
    void Promise.resolve(engine.calls.follow(principal, call.id)).then(stop, stop);
  }

  #inputHandler(principal: Principal, { onInputRequest }: InvokeOptions): InputHandler | null {
    if (onInputRequest === undefined) return null;
    const { engine, host } = this.#context;
    return new InputHandler({ engine, log: host.log, principal, onInputRequest });
  }

  async get(id: string): Promise<ToolCallRecord | undefined> {
    const call = await this.#context.engine.calls.find(embeddedPrincipal(), id);
    return call === undefined ? undefined : toRecord(call);
  }

  async wait(id: string): Promise<ToolCallRecord> {
    return await this.#ended(id);
  }

  async cancel(id: string): Promise<ToolCallRecord> {
    this.#refuseIfFenced();
    const cancelled = await this.#context.engine.calls.cancel(embeddedPrincipal(), id);
    if (!cancelled.ok) throw new BoardError(cancelled.failure);
    return toRecord(cancelled.value);
  }

  async decide(id: string, decision: 'allow' | 'deny', options: DecideOptions = {}): Promise<ToolCallRecord> {
    checkDecideOptions(options);
    this.#refuseIfFenced();
    const { note, decidedBy = OPERATOR_NAME } = options;
    const call = await this.#context.engine.calls.find(embeddedPrincipal(), id);
    const given: OperatorDecision = { decision, digest: call?.approval?.digest ?? '', note: note ?? null };
    const decided = await this.#context.engine.calls.decide(embeddedPrincipal(decidedBy), id, given);
    if (!decided.ok) throw new BoardError(decided.failure);
    return toRecord(decided.value);
  }

  async respondInput(
    id: string,
    response: RespondInputOptions,
    options: Pick<InvokeOptions, 'agentId'> = {},
  ): Promise<ToolCallRecord> {
    checkRespondInput(response, options);
    this.#refuseIfFenced();
    const { action = 'accept', content, id: requestId } = response;
    const principal = embeddedPrincipal(options.agentId);
    const given = { id: requestId, action, content: jsonCopy(content) };
    const responded = await this.#context.engine.calls.respond(principal, id, given);
    if (!responded.ok) throw new BoardError(responded.failure);
    return toRecord(responded.value);
  }

  async listen(options: { readonly port?: number; readonly host?: string } = {}): Promise<ListeningApis> {
    if (this.#closing !== null) throw new BoardError(failure('conflict', reason('board_closed')));
    const listening = await this.#parts.apis.listen(options);
    this.#parts.cluster?.setUrl(listening.url);
    return listening;
  }

  async createKey(options: BoardKeyOptions): Promise<{ id: string; secret: string }> {
    const { kind, name, scopes = null, expiresAt = null } = options;
    const maker: Principal = { ...embeddedPrincipal(), kind: 'operator' };
    const minted = await this.#context.keys.mint(maker, {
      tenant: maker.tenant,
      kind,
      name,
      scopes,
      expiresAt,
    });
    if ('code' in minted) throw new BoardError(minted);
    return { id: minted.key.id, secret: minted.secret };
  }

  onFenced(listener: (problem: string) => void): () => void {
    return this.#context.engine.onFenced(listener);
  }

  readonly handler = (request: IncomingMessage, response: ServerResponse): void =>
    this.#parts.apis.mounted().handler(request, response);

  readonly fetch = async (request: Request): Promise<Response> =>
    await this.#parts.apis.mounted().fetch(request);

  async close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    await this.#closing;
  }

  async #shutDown(): Promise<void> {
    const { unfollow, apis, sandboxSetup, retention, cluster } = this.#parts;
    unfollow();
    // Other nodes pass no calls to this one from now on.
    cluster?.leave();
    const { host, engine, store } = this.#context;
    await closeAll([
      () => apis.close(),
      () => host.activeWork.close(),
      () => engine.drain(),
      () => sandboxSetup?.close(),
      () => retention?.end(),
      () => cluster?.close(),
      () => store.close(),
    ]);
  }

  /** A run belongs to one agent. The id is derived from the agent's name, so that no map of runs is needed. */
  #runOf(agentId: string): string {
    if (agentId === EMBEDDED_AGENT) return this.#runId;
    return `run_${createHash('sha256').update(`${this.#runId} ${agentId}`).digest('hex').slice(0, 16)}`;
  }

  async #ended(id: string, options?: FollowOptions): Promise<ToolCallRecord> {
    const call = await this.#context.engine.calls.follow(embeddedPrincipal(), id, options);
    if (call === undefined) throw new BoardError(noSuchCall(id));
    // A fenced board has forgotten the call: another node manages it.
    if (isOpen(call)) this.#refuseIfFenced();
    return toRecord(call);
  }

  #refuseIfFenced(): void {
    const { fenced } = this.#context.engine;
    if (fenced !== null) throw new BoardError(fenced);
  }
}

function tagsIn(metadata: RegisteredTool['metadata']): readonly unknown[] {
  const tags = metadata?.['tags'];
  return Array.isArray(tags) ? tags : [];
}

interface Recorded {
  readonly call: Call;
  readonly live: LiveCall | null;
}

/** Returns the call, which is also recorded if it was denied. Throws if it was refused without a record. */
function recordedCall(submitted: Submitted): Recorded {
  if (submitted.kind === 'refused') throw new BoardError(submitted.failure);
  return submitted.kind === 'accepted' ? submitted : { call: submitted.call, live: null };
}
