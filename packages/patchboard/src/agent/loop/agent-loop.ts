import type { StopReason } from '../../core/agent-handle.ts';
import type { ToolUseBlock } from '../../protocols/messages.ts';
import { mayEver } from '../../core/access/policy/decide.ts';
import { withoutContract, type RegisteredTool } from '../../core/tools/registered-tool.ts';
import type { ToolCallRecord } from '../../sdk/tool-call-record.ts';
import type { AgentParts } from '../assembly.ts';
import type { Budget } from './budget.ts';
import type { Reply, ToolRequest } from '../dialects/dialect.ts';
import type { Usage } from '../events/events.ts';
import { isAborted } from '../is-aborted.ts';
import { askModel, type ModelAnswer } from './model-turn.ts';
import { isOffered } from '../tool-selection.ts';
import { notesOf, Round, toMessage } from './round.ts';
import { Suspended, type Answer, type PlannedRequest } from './tool-requests.ts';
import { textOf } from '../memory/transcript.ts';

/** What one `send` came to. */
export interface AgentReply {
  readonly agentId: string;
  /** The last thing the model said. */
  readonly text: string;
  readonly reason: StopReason;
  /** Every tool that was asked for, in order. */
  readonly calls: readonly ToolCallRecord[];
  /** What was asked for and not run, with `mode: 'manual'`: `continue()` runs it. */
  readonly requests: readonly ToolUseBlock[];
  readonly usage: Usage;
}

/** The model's turn, the tools' turn, and again, until there is a reason to stop. */
export class AgentLoop {
  readonly #parts: AgentParts;
  readonly #signal: AbortSignal;
  readonly #calls: ToolCallRecord[] = [];
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };

  /** `signal`: somebody interrupts. */
  constructor(parts: AgentParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  async run(): Promise<AgentReply> {
    const reason = await this.#untilStopped();
    const { id, events, transcript, journal } = this.#parts;
    const text = textOf(transcript.messages.at(-1));
    events.emit({ channel: 'progress', type: 'done', reason, text });
    await journal.flush();
    const requests = transcript.openRequests;
    return { agentId: id, text, reason, calls: this.#calls, requests, usage: this.#usage };
  }

  /** The requests of the last reply: whether they were tried before or not, each gets its answer. */
  async answer(run: (signal: AbortSignal) => Promise<Answer[]>): Promise<readonly ToolCallRecord[]> {
    const answers = await run(this.#signal);
    const records = answers.flatMap(({ record }) => (record === null ? [] : [record]));
    this.#calls.push(...records);
    const notes = records.flatMap((record) => this.#noticed(record, answers));
    const content = [
      ...answers.map(({ block }) => block),
      ...notes.map((text) => ({ type: 'text', text }) as const),
    ];
    const { transcript, callEvents, held } = this.#parts;
    held.clear();
    const toolCall = notesOf(transcript.openRequests, answers);
    await transcript.add({ role: 'user', content, metadata: { toolCall } });
    callEvents.settled();
    return records;
  }

  async #untilStopped(): Promise<StopReason> {
    const { options, budget, guard } = this.#parts;
    for (let iteration = 1; ; iteration += 1) {
      if (this.#signal.aborted) return 'interrupted';
      if (budget.isSpent) return 'budget';
      if (iteration > options.maxIterations) return 'max_iterations';
      const tools = this.#tools();
      const round = await this.#reply(tools);
      if (options.isManual && round.planned.length > 0)
        return isAborted(this.#signal) ? 'interrupted' : 'manual';
      if (round.planned.length === 0) return isAborted(this.#signal) ? 'interrupted' : 'done';
      const calls = await this.answer(() => round.answers());
      if (isAborted(this.#signal)) return 'interrupted';
      if (guard.isHopeless) return 'repeating';
      if (await this.#mayStop(iteration, calls)) return 'stopped';
    }
  }

  /** Asks the model. What its reply asks for starts while it speaks, but never before that much of it is on record. */
  async #reply(tools: readonly RegisteredTool[]): Promise<Round> {
    const { options, events, transcript, budget, requests } = this.#parts;
    const { host, model, dialect, settings, system, maxRetries } = options;
    const round = new Round({
      plan: (request, taken) => this.#plan(request, taken, tools),
      keep: (message) => transcript.keepPartial(message),
      run: (request) => requests.run(request, this.#signal),
      isParallel: options.parallel,
      isManual: options.isManual,
    });
    let soFar: Reply = { content: [] };
    try {
      const answer = await askModel({
        model,
        dialect,
        settings,
        conversation: { system, messages: transcript.messages, tools },
        tools: this.#namedTools(tools),
        signal: AbortSignal.any([this.#signal, host.activeWork.closing]),
        maxRetries,
        clock: host.clock,
        ids: host.ids,
        onText: (delta) => events.emit({ channel: 'progress', type: 'text_delta', delta }),
        onRequests: (whole, reply) => {
          soFar = reply;
          round.take(whole, reply);
        },
      });
      // The reply is not whole and nobody interrupted: a resume asks again.
      if (host.activeWork.closing.aborted) throw new Suspended();
      this.#account(answer, budget);
      const isCut = answer.finishReason === 'aborted' || answer.finishReason === 'length';
      const message = toMessage(answer.reply, round.planned, isCut);
      if (answer.finishReason !== 'aborted' || message.content.length > 0) await transcript.add(message);
    } catch (error) {
      if (!(error instanceof Suspended)) await this.#breakOff(round, soFar);
      throw error;
    }
    return round;
  }

  /** The model failed, but calls it had asked for may have run: what was said, and what came of it, is on record. */
  async #breakOff(round: Round, soFar: Reply): Promise<void> {
    if (round.planned.length === 0 || this.#parts.options.isManual) return;
    await this.#parts.transcript.add(toMessage(soFar, round.planned, true));
    await this.answer(() => round.answers());
  }

  #account({ usage, finishReason }: ModelAnswer, budget: Budget): void {
    const { events, options } = this.#parts;
    budget.spend(usage);
    this.#usage = {
      inputTokens: this.#usage.inputTokens + usage.inputTokens,
      outputTokens: this.#usage.outputTokens + usage.outputTokens,
    };
    const { modelId } = options.model;
    events.emit({ channel: 'monitor', type: 'model_replied', modelId, finishReason, usage });
  }

  #plan(request: ToolRequest, taken: ReadonlySet<string>, tools: readonly RegisteredTool[]): PlannedRequest {
    const callId = this.#parts.options.host.ids.next('tc_');
    // Two requests under one id could not be told apart in the answer.
    const id = request.id === '' || taken.has(request.id) ? callId : request.id;
    const withheld = this.#isWithheld(request.name, tools);
    const planned = { ...request, id, callId, withheld };
    if (this.#parts.options.isManual) this.#parts.held.set(callId, planned);
    return planned;
  }

  /** A request that waits, with what is wrong with it; after a restart only as it stands in the conversation. */
  held(request: ToolUseBlock): PlannedRequest {
    const { callId, name } = request;
    return this.#parts.held.get(callId) ?? { ...request, withheld: this.#isWithheld(name, this.#tools()) };
  }

  /** None of the tools that this agent was given and may call, though the board has it. */
  #isWithheld(asked: string, tools: readonly RegisteredTool[]): boolean {
    if (tools.some(({ name }) => name === asked)) return false;
    const { options, principal } = this.#parts;
    // By wire name too: the engine would know it by that.
    const tool = options.host.engine.registry.find(principal.tenant, asked);
    return tool !== undefined && !tools.some(({ name }) => name === tool.name);
  }

  /** By which a reply is understood; those that the agent may not call have no schema. */
  #namedTools(tools: readonly RegisteredTool[]): readonly RegisteredTool[] {
    const { options, principal } = this.#parts;
    const names = new Set(tools.map(({ name }) => name));
    const others = options.host.engine.registry.list(principal.tenant).filter(({ name }) => !names.has(name));
    return [...tools, ...others.map(withoutContract)];
  }

  #tools(): readonly RegisteredTool[] {
    const { options, principal } = this.#parts;
    return options.host.engine
      .tools(principal)
      .filter((tool) => isOffered(options.offers, tool))
      .filter(({ name }) => options.permissions.every((permission) => mayEver(permission, name)));
  }

  #noticed(record: ToolCallRecord, answers: readonly Answer[]): string[] {
    const { guard, events } = this.#parts;
    const block = answers.find((answer) => answer.record === record)?.block;
    const { id: callId, name: toolName, input: args } = record;
    const noticed = guard.notice({ callId, toolName, args, result: block?.content });
    if (noticed === null) return [];
    const { note, times } = noticed;
    events.emit({ channel: 'monitor', type: 'repeat_noticed', toolName, callId, times });
    return [note];
  }

  async #mayStop(iteration: number, calls: readonly ToolCallRecord[]): Promise<boolean> {
    const { options, transcript } = this.#parts;
    for (const condition of options.stopWhen)
      if (await condition({ iteration, messages: transcript.messages, calls })) return true;
    return false;
  }
}
