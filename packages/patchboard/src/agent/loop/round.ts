import type { AssistantMessage, ToolCallNote, ToolUseBlock } from '../../protocols/messages.ts';
import type { Reply, ToolRequest } from '../dialects/dialect.ts';
import type { RequestResult, PlannedRequest } from './tool-requests.ts';

export interface RoundParts {
  /** Assigns a call id to a request. `taken` has the request ids used in this reply. */
  readonly plan: (request: ToolRequest, taken: ReadonlySet<string>) => PlannedRequest;
  /** Resolves when the reply so far is durable; requests start only after that. */
  readonly keep: (message: AssistantMessage) => Promise<void>;
  readonly run: (request: PlannedRequest) => Promise<RequestResult>;
  /** If false, requests run one after the other. */
  readonly isParallel: boolean;
  /** If true, requests are collected but not run. */
  readonly isManual: boolean;
}

/** The tool requests of one reply. Each starts as soon as it is complete, while the reply still streams. */
export class Round {
  readonly #parts: RoundParts;
  readonly #planned: PlannedRequest[] = [];
  readonly #taken: Set<string> = new Set();
  readonly #results: Promise<RequestResult>[] = [];
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

  async results(): Promise<RequestResult[]> {
    return await Promise.all(this.#results);
  }

  #start(request: PlannedRequest, kept: Promise<void>): void {
    const { isParallel, run } = this.#parts;
    const before = isParallel ? kept : Promise.all([kept, this.#last]);
    const result = before.then(() => run(request));
    // `results()` rejects with this error; until it is called, the rejection must not count as unhandled.
    this.#last = result.catch(() => {});
    this.#results.push(result);
  }
}

/** Converts the reply to a message with the call ids of its requests. Requests without a call are left out. */
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

/** Returns a summary of each request for the metadata of the message. */
export function notesOf(
  requests: readonly ToolUseBlock[],
  results: readonly RequestResult[],
): ToolCallNote[] {
  return results.flatMap(({ block, record }) => {
    const request = requests.find(({ id }) => id === block.tool_use_id);
    if (request === undefined) return [];
    const { id: requestId, name: toolName, callId } = request;
    const status = block.is_error ? 'error' : 'success';
    return [{ requestId, toolName, callId, status, durationMs: record?.durationMs ?? 0 } as const];
  });
}

function toBlock({
  problem: _problem,
  reasons: _reasons,
  withheld: _withheld,
  ...block
}: PlannedRequest): ToolUseBlock {
  return block;
}
