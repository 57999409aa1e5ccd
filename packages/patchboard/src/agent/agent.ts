import type { AgentHandle, SubTask, SubTaskReply } from '../core/agent-handle.ts';
import { failure, messageOf } from '../core/failures.ts';
import type { Message } from '../protocols/messages.ts';
import { OPERATOR_NAME } from '../core/access/principal.ts';
import { DECIDE_OPTIONS, type DecideOptions } from '../sdk/decide-options.ts';
import { toRecord, type ToolCallRecord } from '../sdk/tool-call-record.ts';
import { AgentError, check } from './agent-error.ts';
import { AgentLoop, type AgentReply } from './loop/agent-loop.ts';
import { assemble, type AgentParts } from './assembly.ts';
import type { SubscribeOptions } from './events/event-log.ts';
import type { AgentEvent, AgentEventOf, AgentEventType, AgentState } from './events/events.ts';
import { runHeldRequests } from './loop/held-requests.ts';
import { answerOpenRequests, sealUnstarted } from './memory/interrupted.ts';
import type { Lineage, Origin } from './subagents/lineage.ts';
import type { AgentOptions } from './options.ts';
import { BIRTH, recall } from './memory/resume-state.ts';
import { SubAgents } from './subagents/sub-agents.ts';
import { Suspended } from './loop/tool-requests.ts';
import { Turns } from './loop/turns.ts';

export interface SendOptions {
  /** Interrupts the agent. */
  readonly signal?: AbortSignal;
}

/**
 * A model that works with the tools of a board. What it asks for goes over the engine's one path, and what it says and
 * does is written down before anything follows from it, so that a crash costs no more than a reply.
 */
export class Agent implements AgentHandle {
  readonly #parts: AgentParts;
  readonly #turns: Turns;
  readonly #below: SubAgents;
  #state: AgentState = 'idle';

  constructor(options: AgentOptions);
  /** @internal For agents that come from others. */
  constructor(options: AgentOptions, origin: Origin);
  constructor(options: AgentOptions, origin: Origin | null = null) {
    this.#parts = assemble(options, origin, {
      handle: this,
      decide: (...answer) => this.decide(...answer),
      onWaiting: (isWaiting) => this.#setState(isWaiting ? 'waiting' : 'working'),
    });
    this.#turns = new Turns(this.#parts.options.host.activeWork);
    const lineage = origin?.kind === 'spawned' ? origin.lineage : null;
    this.#below = new SubAgents({
      agent: this.#parts,
      given: options,
      lineage,
      make: (given, below) => new Agent(given, { kind: 'spawned', lineage: below }),
    });
    if (lineage !== null) this.#reportTo(lineage);
  }

  /**
   * The agent of an earlier process, or one whose turn failed. What was interrupted is sealed, what waits for approval
   * keeps waiting; `continue()` goes on where it stopped.
   */
  static async resume(id: string, options: Omit<AgentOptions, 'id'>): Promise<Agent> {
    const resumeState = await recall(options.board.host.store, id);
    const agent = new Agent({ ...options, id }, { kind: 'resumed', resumeState });
    await agent.#takeUp();
    return agent;
  }

  /** Names the conversation; also the id of its run. */
  get id(): string {
    return this.#parts.id;
  }

  get name(): string {
    return this.#parts.birth.name;
  }

  get depth(): number {
    return this.#parts.birth.depth;
  }

  get state(): AgentState {
    return this.#state;
  }

  get messages(): readonly Message[] {
    return this.#parts.transcript.messages;
  }

  /** Whether it is the model's turn or a tool's: `continue()` goes on. */
  get isUnfinished(): boolean {
    return this.#parts.transcript.isUnfinished;
  }

  /** Of the newest event; 0: there is none yet. */
  get bookmark(): number {
    return this.#parts.events.newest;
  }

  /** Resolves when the agent stops. What is sent while it works waits for its turn. */
  async send(text: string, options: SendOptions = {}): Promise<AgentReply> {
    if (typeof text !== 'string' || text.trim() === '')
      throw new AgentError(failure('body_invalid', 'send needs a text that is not empty'));
    return await this.#turn(options, async (signal) => {
      const loop = new AgentLoop(this.#parts, signal);
      await this.#answerOpen(loop);
      this.#parts.guard.reset();
      await this.#parts.transcript.add({ role: 'user', content: [{ type: 'text', text }] });
      return await loop.run();
    });
  }

  /** Goes on after a resume, after a failure, where a limit stopped it, or with the requests that wait to be run. */
  async continue(options: SendOptions = {}): Promise<AgentReply> {
    return await this.#turn(options, async (signal) => {
      if (!this.isUnfinished)
        throw new AgentError(failure('conflict', 'there is nothing to go on with; send something'));
      const loop = new AgentLoop(this.#parts, signal);
      if (this.#parts.options.isManual) await this.#runHeld(loop);
      else await this.#answerOpen(loop);
      return await loop.run();
    });
  }

  /** Stops the model, cancels its open calls, and resolves when the agent has stopped. */
  async interrupt(): Promise<void> {
    await this.#turns.interrupt();
  }

  /** Answers a call of this agent, or of an agent below it, that waits for approval. */
  async decide(
    callId: string,
    decision: 'allow' | 'deny',
    options: DecideOptions = {},
  ): Promise<ToolCallRecord> {
    check('decide', DECIDE_OPTIONS(options, ''));
    const { note, decidedBy = OPERATOR_NAME } = options;
    const { host } = this.#parts.options;
    const call = await host.engine.calls.find(this.#parts.principal, callId);
    if (call === undefined || (call.runId !== this.id && !this.#below.has(call.runId)))
      throw new AgentError(failure('call_not_found', `no call of this agent: ${callId}`));
    const digest = call.approval?.digest ?? '';
    const given = { decision, digest, note: note ?? null };
    const answer = await host.engine.calls.decide(host.principal(decidedBy), callId, given);
    if (!answer.ok) throw new AgentError(answer.failure);
    return toRecord(answer.value);
  }

  /** Calls `handler` for each event of that type from now on, in order. The answer ends it. */
  on<Type extends AgentEventType>(type: Type, handler: (event: AgentEventOf<Type>) => unknown): () => void {
    return this.#parts.events.on(type, handler);
  }

  /** Every event after a bookmark, each once and in order, then new ones as they come. */
  subscribe(options: SubscribeOptions = {}): AsyncIterable<AgentEvent> {
    return this.#parts.events.subscribe(options);
  }

  async spawn(task: SubTask): Promise<SubTaskReply> {
    return await this.#below.spawn(task);
  }

  async #turn(
    { signal }: SendOptions,
    work: (signal: AbortSignal) => Promise<AgentReply>,
  ): Promise<AgentReply> {
    return await this.#turns.take(signal, (either) => this.#work(either, work));
  }

  async #work(signal: AbortSignal, work: (signal: AbortSignal) => Promise<AgentReply>): Promise<AgentReply> {
    const { journal, callEvents, birth, options } = this.#parts;
    const unlisten = options.host.engine.feed.listen(({ type, call }) => {
      if (type === 'permission_decided' && call?.runId === this.id) callEvents.decided(call);
    });
    try {
      if (journal.last === 0) await journal.append({ kind: BIRTH, body: JSON.stringify(birth) });
      this.#setState('working');
      return await work(signal);
    } catch (error) {
      throw this.#failed(error);
    } finally {
      unlisten();
      this.#setState('idle');
      // Whoever resumes this agent next must find all of it.
      await journal.settled();
    }
  }

  /** A turn that breaks off leaves a conversation that can be continued. */
  #failed(error: unknown): unknown {
    if (error instanceof Suspended) {
      const message = `the board was closed while the agent worked; Agent.resume('${this.id}') goes on`;
      return new AgentError(failure('interrupted', message));
    }
    const code = error instanceof AgentError ? error.failure.code : 'internal';
    this.#parts.events.emit({ channel: 'monitor', type: 'error', code, message: messageOf(error) });
    return error;
  }

  /** After a resume: nothing was recorded of some requests, and others have ended or still wait. */
  async #takeUp(): Promise<void> {
    const { events, journal } = this.#parts;
    const { sealed, waiting, isOver } = await sealUnstarted(this.#parts);
    events.emit({ channel: 'monitor', type: 'agent_resumed', sealed, waiting });
    if (isOver) await this.#answerOpen(new AgentLoop(this.#parts, new AbortController().signal));
    await journal.flush();
  }

  async #answerOpen(loop: AgentLoop): Promise<void> {
    if (this.#parts.transcript.openRequests.length === 0) return;
    await loop.answer((signal) => answerOpenRequests(this.#parts, signal));
  }

  async #runHeld(loop: AgentLoop): Promise<void> {
    if (this.#parts.transcript.openRequests.length === 0) return;
    await loop.answer((signal) => runHeldRequests(this.#parts, signal, (request) => loop.held(request)));
  }

  #setState(state: AgentState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#parts.events.emit({ channel: 'monitor', type: 'state_changed', state });
  }

  /** Those above a sub-agent hear what it asks, or nobody would answer. */
  #reportTo(lineage: Lineage): void {
    lineage.adopt(this.id);
    this.on('permission_required', ({ channel, type, call, agentId }) =>
      lineage.passOn({ channel, type, call }, agentId),
    );
    this.on('permission_decided', ({ at: _at, bookmark: _bookmark, agentId, ...event }) =>
      lineage.passOn(event, agentId),
    );
  }
}
