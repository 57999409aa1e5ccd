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
import { requestReply, type ModelReply } from './model-turn.ts';
import { isOffered } from '../tool-selection.ts';
import { notesOf, Round, toMessage } from './round.ts';
import { Suspended, type RequestResult, type PlannedRequest } from './tool-requests.ts';
import { textOf } from '../memory/transcript.ts';

/** The result of one `send` or `continue`. */
export interface AgentReply {
  readonly agentId: string;
  /** The text of the model's last reply. */
  readonly text: string;
  readonly reason: StopReason;
  /** Every call that the model requested, in order. */
  readonly calls: readonly ToolCallRecord[];
  /** Requests held back with `mode: 'manual'`; `continue()` runs them. */
  readonly requests: readonly ToolUseBlock[];
  readonly usage: Usage;
}

/** Alternates between model replies and tool calls until there is a reason to stop. */
export class AgentLoop {
  readonly #parts: AgentParts;
  readonly #signal: AbortSignal;
  readonly #calls: ToolCallRecord[] = [];
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };

  /** `signal` interrupts the loop. */
  constructor(parts: AgentParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  async run(): Promise<AgentReply> {
    const { id, events, transcript, journal } = this.#parts;
    const begun = transcript.messages.length;
    const reason = await this.#untilStopped();
    // Results of its requests may follow the last reply.
    const text = textOf(transcript.messages.slice(begun).findLast(({ role }) => role === 'assistant'));
    events.emit({ channel: 'progress', type: 'done', reason, text });
    await journal.flush();
    const requests = transcript.openRequests;
    return { agentId: id, text, reason, calls: this.#calls, requests, usage: this.#usage };
  }

  /** Runs or follows the requests of the last reply, and adds a message with the result of each. */
  async addResults(
    run: (signal: AbortSignal) => Promise<RequestResult[]>,
  ): Promise<readonly ToolCallRecord[]> {
    const results = await run(this.#signal);
    const records = results.flatMap(({ record }) => (record === null ? [] : [record]));
    this.#calls.push(...records);
    const wasWarned = this.#parts.guard.isWarned;
    const notes = records.flatMap((record) => this.#noticed(record, results, wasWarned));
    const content = [
      ...results.map(({ block }) => block),
      ...notes.map((text) => ({ type: 'text', text }) as const),
    ];
    const { transcript, callEvents, held } = this.#parts;
    held.clear();
    const toolCall = notesOf(transcript.openRequests, results);
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
      const calls = await this.addResults(() => round.results());
      if (isAborted(this.#signal)) return 'interrupted';
      if (guard.isStuck) return 'repeating';
      if (await this.#mayStop(iteration, calls)) return 'stopped';
    }
  }

  /** Requests a model reply. Its tool requests start while it streams, but only after that part of the reply is stored. */
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
      const response = await requestReply({
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
      // The board closes: drop the incomplete reply; a resume requests it again.
      if (host.activeWork.closing.aborted) throw new Suspended();
      this.#account(response, budget);
      const isCut = response.finishReason === 'aborted' || response.finishReason === 'length';
      const message = toMessage(response.reply, round.planned, isCut);
      if (response.finishReason !== 'aborted' || message.content.length > 0) await transcript.add(message);
    } catch (error) {
      if (!(error instanceof Suspended)) await this.#breakOff(round, soFar);
      throw error;
    }
    return round;
  }

  /** The model failed after some of its calls may have run: stores the partial reply and the results of its calls. */
  async #breakOff(round: Round, soFar: Reply): Promise<void> {
    if (round.planned.length === 0 || this.#parts.options.isManual) return;
    await this.#parts.transcript.add(toMessage(soFar, round.planned, true));
    await this.addResults(() => round.results());
  }

  #account({ usage, finishReason }: ModelReply, budget: Budget): void {
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
    // Request ids must be unique, because results refer to them.
    const id = request.id === '' || taken.has(request.id) ? callId : request.id;
    const withheld = this.#isWithheld(request.name, tools);
    const planned = { ...request, id, callId, withheld };
    if (this.#parts.options.isManual) this.#parts.held.set(callId, planned);
    return planned;
  }

  /** Returns a held request with its problem; after a restart only what the stored conversation contains. */
  held(request: ToolUseBlock): PlannedRequest {
    const { callId, name } = request;
    return this.#parts.held.get(callId) ?? { ...request, withheld: this.#isWithheld(name, this.#tools()) };
  }

  /** Whether the board has the tool but this agent was not given it or may not call it. */
  #isWithheld(requested: string, tools: readonly RegisteredTool[]): boolean {
    if (tools.some(({ name }) => name === requested)) return false;
    const { options, principal } = this.#parts;
    // `find` also accepts wire names, as the engine does.
    const tool = options.host.engine.toolIndex.find(principal.tenant, requested);
    return tool !== undefined && !tools.some(({ name }) => name === tool.name);
  }

  /** All tools that a reply may name. Those that the agent may not call come without their schema. */
  #namedTools(tools: readonly RegisteredTool[]): readonly RegisteredTool[] {
    const { options, principal } = this.#parts;
    const names = new Set(tools.map(({ name }) => name));
    const others = options.host.engine.toolIndex
      .list(principal.tenant)
      .filter(({ name }) => !names.has(name));
    return [...tools, ...others.map(withoutContract)];
  }

  #tools(): readonly RegisteredTool[] {
    const { options, principal } = this.#parts;
    return options.host.engine
      .tools(principal)
      .filter((tool) => isOffered(options.offers, tool))
      .filter(({ name }) => options.permissions.every((permission) => mayEver(permission, name)));
  }

  #noticed(record: ToolCallRecord, results: readonly RequestResult[], wasWarned: boolean): string[] {
    const { guard, events } = this.#parts;
    const block = results.find((result) => result.record === record)?.block;
    const { id: callId, name: toolName, input: args } = record;
    const noticed = guard.notice({ callId, toolName, args, result: block?.content }, wasWarned);
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
