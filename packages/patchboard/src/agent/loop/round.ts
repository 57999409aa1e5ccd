import type { AssistantMessage, ToolCallNote, ToolUseBlock } from '../../protocols/messages.ts';
import type { Reply, ToolRequest } from '../dialects/dialect.ts';
import type { Answer, PlannedRequest } from './tool-requests.ts';

export interface RoundParts {
  /** Gives a request its call. `taken`: ids that are in use in this reply. */
  readonly plan: (request: ToolRequest, taken: ReadonlySet<string>) => PlannedRequest;
  /** Resolves when the reply so far is durable: nothing follows from it before. */
  readonly keep: (message: AssistantMessage) => Promise<void>;
  readonly run: (request: PlannedRequest) => Promise<Answer>;
  /** False: one after the other. */
  readonly isParallel: boolean;
  /** Nothing is run: the requests are for somebody to look at. */
  readonly isManual: boolean;
}

/** What one reply asks for. Each request starts as soon as it is whole, while the model still speaks. */
export class Round {
  readonly #parts: RoundParts;
  readonly #planned: PlannedRequest[] = [];
  readonly #taken: Set<string> = new Set();
  readonly #answers: Promise<Answer>[] = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: RoundParts) {
    this.#parts = parts;
  }

  get planned(): readonly PlannedRequest[] {
    return this.#planned;
  }

  take(requests: readonly ToolRequest[], reply: Reply): void {
    const begun = this.#planned.length;
    for (const request of requests) {
      const planned = this.#parts.plan(request, this.#taken);
      this.#taken.add(planned.id);
      this.#planned.push(planned);
    }
    if (this.#parts.isManual) return;
    const kept = this.#parts.keep(toMessage(reply, this.#planned, true));
    for (const request of this.#planned.slice(begun)) this.#start(request, kept);
  }

  async answers(): Promise<Answer[]> {
    return await Promise.all(this.#answers);
  }

  #start(request: PlannedRequest, kept: Promise<void>): void {
    const { isParallel, run } = this.#parts;
    const before = isParallel ? kept : Promise.all([kept, this.#last]);
    const answer = before.then(() => run(request));
    // Whoever waits for the answers hears of it; until then it must not count as nobody's.
    this.#last = answer.catch(() => {});
    this.#answers.push(answer);
  }
}

/** The reply with the calls that were made of its requests; those of which none was made are left out. */
export function toMessage(
  reply: Reply,
  planned: readonly PlannedRequest[],
  isIncomplete: boolean,
): AssistantMessage {
  const uses = planned.map(toBlock);
  const content = reply.content.flatMap((block): AssistantMessage['content'][number][] => {
    if (block.type !== 'tool_use') return [block];
    const use = uses.shift();
    return use === undefined ? [] : [use];
  });
  const toolCallsRequested = planned.map(({ id, name, callId }) => ({
    requestId: id,
    toolName: name,
    callId,
  }));
  return {
    role: 'assistant',
    content,
    ...(reply.source === undefined ? {} : { source: reply.source }),
    ...(isIncomplete ? { incomplete: true } : {}),
    ...(toolCallsRequested.length === 0 ? {} : { metadata: { toolCallsRequested } }),
  };
}

/** What became of each request, for those who look at the conversation. */
export function notesOf(requests: readonly ToolUseBlock[], answers: readonly Answer[]): ToolCallNote[] {
  return answers.flatMap(({ block, record }) => {
    const request = requests.find(({ id }) => id === block.tool_use_id);
    if (request === undefined) return [];
    const { id: requestId, name: toolName, callId } = request;
    const status = block.is_error ? 'error' : 'success';
    return [{ requestId, toolName, callId, status, durationMs: record?.durationMs ?? 0 } as const];
  });
}

function toBlock({ problem: _problem, withheld: _withheld, ...block }: PlannedRequest): ToolUseBlock {
  return block;
}
