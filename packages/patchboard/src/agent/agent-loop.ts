import type { StopReason } from '../core/agent-handle.ts';
import type { AssistantMessage, ToolUseBlock } from '../core/messages.ts';
import { mayEver } from '../core/policy/decide.ts';
import { matchesGlob } from '../core/policy/glob.ts';
import type { Principal } from '../core/principal.ts';
import type { RegisteredTool } from '../core/registry.ts';
import type { ToolCallRecord } from '../sdk/tool-call-record.ts';
import type { Budget } from './budget.ts';
import type { CallNews } from './call-news.ts';
import type { EventLog } from './event-log.ts';
import type { Usage } from './events.ts';
import type { Journal } from './journal.ts';
import { askModel, type ModelAnswer } from './model-turn.ts';
import type { ResolvedOptions } from './options.ts';
import type { RepeatGuard } from './repeat-guard.ts';
import { Suspended, type Answer, type PlannedRequest, type ToolRequests } from './tool-requests.ts';
import { textOf, type Transcript } from './transcript.ts';

/** What one `send` came to. */
export interface AgentReply {
  readonly agentId: string;
  /** The last thing the model said. */
  readonly text: string;
  readonly reason: StopReason;
  /** Every tool that was asked for, in order. */
  readonly calls: readonly ToolCallRecord[];
  readonly usage: Usage;
}

export interface AgentLoopParts {
  readonly id: string;
  readonly options: ResolvedOptions;
  readonly principal: Principal;
  readonly journal: Journal;
  readonly events: EventLog;
  readonly transcript: Transcript;
  readonly requests: ToolRequests;
  readonly news: CallNews;
  readonly guard: RepeatGuard;
  readonly budget: Budget;
}

/** The model's turn, the tools' turn, and again, until there is a reason to stop. */
export class AgentLoop {
  readonly #parts: AgentLoopParts;
  readonly #signal: AbortSignal;
  readonly #calls: ToolCallRecord[] = [];
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };

  /** `signal`: somebody interrupts. */
  constructor(parts: AgentLoopParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  async run(): Promise<AgentReply> {
    const reason = await this.#untilStopped();
    const { id, events, transcript, journal } = this.#parts;
    const text = textOf(transcript.messages.at(-1));
    events.emit({ channel: 'progress', type: 'done', reason, text });
    await journal.flush();
    return { agentId: id, text, reason, calls: this.#calls, usage: this.#usage };
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
    await this.#parts.transcript.add({ role: 'user', content });
    this.#parts.news.settled();
    return records;
  }

  async #untilStopped(): Promise<StopReason> {
    const { options, budget, requests, guard } = this.#parts;
    for (let iteration = 1; ; iteration += 1) {
      if (this.#signal.aborted) return 'interrupted';
      if (budget.isSpent) return 'budget';
      if (iteration > options.maxIterations) return 'max_iterations';
      const tools = this.#tools();
      const planned = await this.#reply(tools);
      if (isAborted(this.#signal)) return 'interrupted';
      if (planned.length === 0) return 'done';
      const calls = await this.answer((signal) => requests.run(planned, signal));
      if (isAborted(this.#signal)) return 'interrupted';
      if (guard.isHopeless) return 'repeating';
      if (await this.#mayStop(iteration, calls)) return 'stopped';
    }
  }

  /** Asks the model; its reply is on record before anything follows from it. */
  async #reply(tools: readonly RegisteredTool[]): Promise<readonly PlannedRequest[]> {
    const { options, events, transcript, budget } = this.#parts;
    const { host, model, dialect, settings, system, maxRetries } = options;
    const answer = await askModel({
      model,
      dialect,
      settings,
      conversation: { system, messages: transcript.messages, tools },
      tools,
      signal: AbortSignal.any([this.#signal, host.workers.closing]),
      maxRetries,
      clock: host.clock,
      ids: host.ids,
      onText: (delta) => events.emit({ channel: 'progress', type: 'text_delta', delta }),
    });
    // The reply is not whole and nobody interrupted: a resume asks again.
    if (host.workers.closing.aborted) throw new Suspended();
    this.#account(answer, budget);
    const planned = this.#plan(answer, tools);
    const message = toMessage(answer, planned);
    if (answer.finishReason !== 'aborted' || message.content.length > 0) await transcript.add(message);
    return planned;
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

  /** What an interrupted reply asked for is not done. */
  #plan({ reply, finishReason }: ModelAnswer, tools: readonly RegisteredTool[]): readonly PlannedRequest[] {
    if (finishReason === 'aborted') return [];
    const { ids } = this.#parts.options.host;
    const offered = new Set(tools.map(({ name }) => name));
    const seen = new Set<string>();
    return reply.content
      .filter((block) => block.type === 'tool_use')
      .map((request) => {
        const callId = ids.next('tc_');
        // Two requests under one id could not be told apart in the answer.
        const id = request.id === '' || seen.has(request.id) ? callId : request.id;
        seen.add(id);
        return { ...request, id, callId, withheld: this.#isWithheld(request.name, offered) };
      });
  }

  /** Not among the tools this agent was given, though the board has it. */
  #isWithheld(name: string, offered: ReadonlySet<string>): boolean {
    const { tools } = this.#parts.options;
    return !offered.has(name) && !tools.every((patterns) => matchesAny(patterns, name));
  }

  #tools(): readonly RegisteredTool[] {
    const { options, principal } = this.#parts;
    return options.host.engine
      .tools(principal)
      .filter(({ name }) => options.tools.every((patterns) => matchesAny(patterns, name)))
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

function toMessage(
  { reply, finishReason }: ModelAnswer,
  planned: readonly PlannedRequest[],
): AssistantMessage {
  const isCut = finishReason === 'aborted' || finishReason === 'length';
  const uses = planned.map(toBlock);
  const content = reply.content.flatMap((block): AssistantMessage['content'][number][] => {
    if (block.type !== 'tool_use') return [block];
    const use = uses.shift();
    return use === undefined ? [] : [use];
  });
  return {
    role: 'assistant',
    content,
    ...(reply.source === undefined ? {} : { source: reply.source }),
    ...(isCut ? { incomplete: true } : {}),
  };
}

function toBlock({ problem: _problem, withheld: _withheld, ...block }: PlannedRequest): ToolUseBlock {
  return block;
}

function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, name));
}

/** Apart, because it changes behind the compiler's back. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
