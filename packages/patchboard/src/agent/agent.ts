import { reason } from '@patchboard/wire';
import type { AgentHandle, SubTask, SubTaskReply } from '../core/agent-handle.ts';
import { failure, messageOf } from '../core/failures.ts';
import type { Message, ToolUseBlock } from '../protocols/messages.ts';
import type { DecideOptions } from '../sdk/decide-options.ts';
import type { RespondInputOptions } from '../sdk/tool-call-input.ts';
import type { ToolCallRecord } from '../sdk/tool-call-record.ts';
import { AgentError } from './agent-error.ts';
import { AgentLoop, type AgentReply } from './loop/agent-loop.ts';
import { assemble, type AgentParts } from './assembly.ts';
import type { SubscribeOptions } from './events/event-log.ts';
import type { AgentEvent, AgentEventOf, AgentEventType, AgentState } from './events/events.ts';
import { recordedCall, resultsOfOpenRequests, sealUnstarted } from './memory/interrupted.ts';
import type { Lineage, Origin } from './subagents/lineage.ts';
import type { AgentOptions } from './options.ts';
import { OwnCalls } from './own-calls.ts';
import { CREATED, loadResumeState } from './memory/resume-state.ts';
import { withPictures } from './memory/stored-pictures.ts';
import { SubAgents } from './subagents/sub-agents.ts';
import { Suspended, type PlannedRequest, type RequestResult } from './loop/tool-requests.ts';
import { Turns } from './loop/turns.ts';

export interface SendOptions {
  /** Interrupts the agent when aborted. */
  readonly signal?: AbortSignal;
}

/**
 * A loop between a model and the tools of a board. All tool calls go through the engine. Messages and calls are stored
 * before the agent acts on them, so that a crash loses at most one model reply.
 */
export class Agent implements AgentHandle {
  readonly #parts: AgentParts;
  readonly #turns: Turns;
  readonly #subAgents: SubAgents;
  readonly #ownCalls: OwnCalls;
  #state: AgentState = 'idle';

  constructor(options: AgentOptions);
  /** @internal For sub-agents and resumed agents. */
  constructor(options: AgentOptions, origin: Origin);
  constructor(options: AgentOptions, origin: Origin | null = null) {
    this.#parts = assemble(options, origin, {
      handle: this,
      decide: (...args) => this.decide(...args),
      respondInput: (...args) => this.respondInput(...args),
      onWaiting: (isWaiting) => {
        // A call of a resumed agent may ask before `continue()`.
        if (this.#state !== 'idle') this.#setState(isWaiting ? 'waiting' : 'working');
      },
    });
    this.#turns = new Turns(this.#parts.options.host.activeWork);
    const lineage = origin?.kind === 'spawned' ? origin.lineage : null;
    this.#subAgents = new SubAgents({
      agent: this.#parts,
      given: options,
      lineage,
      make: (given, below) => new Agent(given, { kind: 'spawned', lineage: below }),
    });
    this.#ownCalls = new OwnCalls(this.#parts, (runId) => runId === this.id || this.#subAgents.has(runId));
    if (lineage !== null) this.#reportTo(lineage);
  }

  /**
   * Restores an agent of an earlier process, or one whose turn failed. Interrupted calls are sealed, calls that wait for
   * approval or input keep waiting; `continue()` continues where the agent stopped, and emits `input_required` again.
   */
  static async resume(id: string, options: Omit<AgentOptions, 'id'>): Promise<Agent> {
    const { host } = options.board;
    const loaded = await loadResumeState(host.store, id);
    const { maxResultBytes: maxBytes } = options;
    const shown = maxBytes === undefined ? {} : { maxBytes };
    const messages = await withPictures(loaded.messages, host, loaded.creation.name, shown);
    const resumeState = { ...loaded, messages };
    const agent = new Agent({ ...options, id }, { kind: 'resumed', resumeState });
    await agent.#restoreCalls();
    return agent;
  }

  /** Id of the conversation and of its run. */
  get id(): string {
    return this.#parts.id;
  }

  get name(): string {
    return this.#parts.creation.name;
  }

  get depth(): number {
    return this.#parts.creation.depth;
  }

  get state(): AgentState {
    return this.#state;
  }

  get messages(): readonly Message[] {
    return this.#parts.transcript.messages;
  }

  /** Whether a model reply or tool result is missing, so that `continue()` has work to do. */
  get isUnfinished(): boolean {
    return this.#parts.transcript.isUnfinished;
  }

  /** Bookmark of the newest event; 0 if there is none yet. */
  get bookmark(): number {
    return this.#parts.events.newest;
  }

  /** Sends a user message and resolves when the agent stops. Concurrent calls are queued. */
  async send(text: string, options: SendOptions = {}): Promise<AgentReply> {
    if (typeof text !== 'string' || text.trim() === '')
      throw new AgentError(failure('body_invalid', reason('agent_text_empty')));
    return await this.#turn(options, async (signal) => {
      const loop = new AgentLoop(this.#parts, signal);
      await this.#completeOpen(loop);
      this.#parts.guard.reset();
      await this.#parts.transcript.add({ role: 'user', content: [{ type: 'text', text }] });
      return await loop.run();
    });
  }

  /** Continues after a resume, a failure or a limit, or runs the requests held back in manual mode. */
  async continue(options: SendOptions = {}): Promise<AgentReply> {
    return await this.#turn(options, async (signal) => {
      if (!this.isUnfinished) throw new AgentError(failure('conflict', reason('agent_not_unfinished')));
      const loop = new AgentLoop(this.#parts, signal);
      if (this.#parts.options.isManual) await this.#runHeld(loop);
      else await this.#completeOpen(loop);
      return await loop.run();
    });
  }

  /** Aborts the model request, cancels open calls, and resolves when the agent has stopped. */
  async interrupt(): Promise<void> {
    await this.#turns.interrupt();
  }

  /** Approves or denies a waiting call of this agent or of one of its sub-agents. */
  async decide(
    callId: string,
    decision: 'allow' | 'deny',
    options: DecideOptions = {},
  ): Promise<ToolCallRecord> {
    return await this.#ownCalls.decide(callId, decision, options);
  }

  /** Responds to an input request of a call of this agent or of one of its sub-agents. */
  async respondInput(callId: string, response: RespondInputOptions): Promise<ToolCallRecord> {
    return await this.#ownCalls.respondInput(callId, response);
  }

  /** Calls `handler` for each new event of that type, in order. Returns a function that removes the handler. */
  on<Type extends AgentEventType>(type: Type, handler: (event: AgentEventOf<Type>) => unknown): () => void {
    return this.#parts.events.on(type, handler);
  }

  /** Yields every stored event after a bookmark, each once and in order, then new events as they occur. */
  subscribe(options: SubscribeOptions = {}): AsyncIterable<AgentEvent> {
    return this.#parts.events.subscribe(options);
  }

  async spawn(task: SubTask): Promise<SubTaskReply> {
    return await this.#subAgents.spawn(task);
  }

  async #turn(
    { signal }: SendOptions,
    work: (signal: AbortSignal) => Promise<AgentReply>,
  ): Promise<AgentReply> {
    return await this.#turns.take(signal, (either) => this.#work(either, work));
  }

  async #work(signal: AbortSignal, work: (signal: AbortSignal) => Promise<AgentReply>): Promise<AgentReply> {
    const { journal, callEvents, creation, options } = this.#parts;
    const unlisten = options.host.engine.feed.listen(({ type, call }) => {
      if (call?.runId !== this.id) return;
      if (type === 'permission_decided') callEvents.decided(call);
      else if (type === 'input_given') callEvents.inputGiven(call);
    });
    try {
      if (journal.last === 0) await journal.append({ kind: CREATED, body: JSON.stringify(creation) });
      this.#setState('working');
      return await work(signal);
    } catch (error) {
      throw this.#failed(error);
    } finally {
      unlisten();
      this.#setState('idle');
      // A later resume must find all entries.
      await journal.settled();
    }
  }

  /** The conversation can be continued after a failed turn. */
  #failed(error: unknown): unknown {
    if (error instanceof Suspended) {
      return new AgentError(failure('interrupted', reason('agent_board_closed', { id: this.id })));
    }
    const { journal, events } = this.#parts;
    // The creation could not be stored: a journal that begins with another entry cannot be resumed.
    if (journal.last === 0) return error;
    const code = error instanceof AgentError ? error.failure.code : 'internal';
    events.emit({ channel: 'monitor', type: 'error', code, message: messageOf(error) });
    return error;
  }

  /** After a resume: seals requests without a recorded call, and completes the reply if all its calls have ended. */
  async #restoreCalls(): Promise<void> {
    const { events, journal } = this.#parts;
    const { sealed, waiting, isOver } = await sealUnstarted(this.#parts);
    events.emit({ channel: 'monitor', type: 'agent_resumed', sealed, waiting });
    if (isOver) await this.#completeOpen(new AgentLoop(this.#parts, new AbortController().signal));
    await journal.flush();
  }

  async #completeOpen(loop: AgentLoop): Promise<void> {
    if (this.#parts.transcript.openRequests.length === 0) return;
    await loop.addResults((signal) => resultsOfOpenRequests(this.#parts, signal));
  }

  async #runHeld(loop: AgentLoop): Promise<void> {
    if (this.#parts.transcript.openRequests.length === 0) return;
    await loop.addResults((signal) => runHeldRequests(this.#parts, signal, (request) => loop.held(request)));
  }

  #setState(state: AgentState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#parts.events.emit({ channel: 'monitor', type: 'state_changed', state });
  }

  /** Forwards the control events of a sub-agent to its parent, where the listeners are. */
  #reportTo(lineage: Lineage): void {
    lineage.adopt(this.id);
    this.on('permission_required', ({ channel, type, call, agentId }) =>
      lineage.passOn({ channel, type, call }, agentId),
    );
    this.on('input_required', ({ channel, type, call, request, agentId }) =>
      lineage.passOn({ channel, type, call, request }, agentId),
    );
    for (const type of ['permission_decided', 'input_given'] as const)
      this.on(type, ({ at: _at, bookmark: _bookmark, agentId, ...event }) => lineage.passOn(event, agentId));
  }
}

/** Runs the requests held back with `mode: 'manual'`. A request that already has a call is not run again, only followed. */
async function runHeldRequests(
  parts: AgentParts,
  signal: AbortSignal,
  plan: (request: ToolUseBlock) => PlannedRequest,
): Promise<RequestResult[]> {
  const { requests, transcript, options } = parts;
  const run = async (request: ToolUseBlock): Promise<RequestResult> => {
    const call = await recordedCall(parts, request);
    if (call !== undefined) return await requests.follow(request, call, signal);
    return await requests.run(plan(request), signal);
  };
  if (options.parallel) return await Promise.all(transcript.openRequests.map(run));
  const results: RequestResult[] = [];
  for (const request of transcript.openRequests) results.push(await run(request));
  return results;
}
