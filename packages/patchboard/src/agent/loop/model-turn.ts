import { reason } from '@patchboard/wire';
import { failure, messageOf } from '../../core/failures.ts';
import type { Clock, Ids } from '../../core/ports.ts';
import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import { AgentError } from '../agent-error.ts';
import type { Conversation, Dialect, Reply, ToolRequest } from '../dialects/dialect.ts';
import type { Usage } from '../events/events.ts';
import { isAborted } from '../is-aborted.ts';
import {
  knownPart,
  type KnownPart,
  type LanguageModel,
  type ModelPart,
  type ModelSettings,
} from './model.ts';
import { picturePartsOf } from '../dialects/result-output.ts';
import { DeltaBatcher } from '../dialects/delta-batcher.ts';

export interface ModelTurn {
  readonly model: LanguageModel;
  readonly dialect: Dialect;
  readonly settings: ModelSettings;
  readonly conversation: Conversation;
  /** All tools that a reply may name; `conversation` has those offered to the model. */
  readonly tools: readonly RegisteredTool[];
  readonly signal: AbortSignal;
  /** Number of retries of a request that the vendor refused with a retryable error. */
  readonly maxRetries: number;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onText: (delta: string) => void;
  /** Called with each complete tool request and the reply so far. */
  readonly onRequests: (requests: readonly ToolRequest[], reply: Reply) => void;
}

export interface ModelReply {
  readonly reply: Reply;
  readonly usage: Usage;
  /** The AI SDK's finish reason: `stop`, `tool-calls`, `length`, …; `aborted` if the signal was aborted. */
  readonly finishReason: string;
}

const RETRY_BASE_MS = 500;
const RETRY_MAX_MS = 30_000;

/** Finish reasons of an incomplete reply that was not aborted by the caller. */
const BROKEN: ReadonlySet<string> = new Set(['aborted', 'error', 'interrupted']);

/** Requests one model reply and reads it as it streams. */
export async function requestReply(turn: ModelTurn): Promise<ModelReply> {
  const deltas = new DeltaBatcher(turn.clock, turn.onText);
  try {
    return await requestWithRetries({ ...turn, onText: (delta) => deltas.add(delta) });
  } finally {
    deltas.end();
  }
}

async function requestWithRetries(turn: ModelTurn): Promise<ModelReply> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await readReply(turn);
    } catch (error) {
      if (error instanceof AgentError) throw error;
      const pauseMs = retryPause(turn, error, attempt);
      if (pauseMs === null) throw modelFailure(turn.model, error);
      await pause(turn, pauseMs);
    }
  }
}

async function readReply(turn: ModelTurn): Promise<ModelReply> {
  const { model, dialect, settings, conversation, tools, signal } = turn;
  const replies = conversation.messages.filter(({ role }) => role === 'assistant').length;
  const reader = dialect.reader(tools, replies + 1);
  let reported = 0;
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  let finishReason = 'aborted';
  let hasBegun = false;
  try {
    const encoded = dialect.encode({ ...conversation, pictures: picturePartsOf(model) });
    const request = { ...settings, ...encoded, abortSignal: signal };
    const { stream } = await model.doStream(request);
    for await (const part of partsOf(stream)) {
      if (isAborted(signal)) break;
      if (part.type === 'error') throw part.error;
      if (part.type === 'finish') {
        finishReason = part.finishReason.unified;
        usage = usageOf(part);
      }
      hasBegun ||= part.type !== 'finish';
      const delta = reader.take(part);
      if (delta !== '') turn.onText(delta);
      const { requests } = reader;
      if (requests.length > reported) turn.onRequests(requests.slice(reported), reader.reply());
      reported = requests.length;
    }
  } catch (error) {
    // No retry once a part of the reply was emitted.
    if (!isAborted(signal)) throw hasBegun ? modelFailure(model, error) : error;
  }
  if (isAborted(signal)) finishReason = 'aborted';
  else if (BROKEN.has(finishReason)) throw modelFailure(model, new Error('the reply broke off'));
  return { reply: reader.reply(), usage, finishReason };
}

async function* partsOf(stream: ReadableStream<ModelPart>): AsyncGenerator<KnownPart> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const part = knownPart(value);
      if (part !== null) yield part;
    }
  } finally {
    // On an early exit, stop the vendor's stream.
    await reader.cancel().catch(() => {});
  }
}

function usageOf({ usage }: Extract<KnownPart, { type: 'finish' }>): Usage {
  return { inputTokens: usage.inputTokens.total ?? 0, outputTokens: usage.outputTokens.total ?? 0 };
}

/** Returns the delay before a retry, or null for no retry. AI SDK providers mark retryable errors. */
function retryPause({ maxRetries, ids }: ModelTurn, error: unknown, attempt: number): number | null {
  if (attempt >= maxRetries || typeof error !== 'object' || error === null) return null;
  const { isRetryable, responseHeaders } = error as {
    isRetryable?: unknown;
    responseHeaders?: Readonly<Record<string, string>>;
  };
  if (isRetryable !== true) return null;
  const retryAfter = Number(responseHeaders?.['retry-after']) * 1000;
  const backoff = RETRY_BASE_MS * 2 ** attempt * (0.5 + ids.random() / 2);
  return Math.min(retryAfter >= 0 ? retryAfter : backoff, RETRY_MAX_MS);
}

async function pause({ clock, signal }: ModelTurn, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      cancelTimer();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const cancelTimer = clock.after(ms, finish);
    signal.addEventListener('abort', finish);
    if (signal.aborted) finish();
  });
}

function modelFailure({ provider, modelId }: LanguageModel, error: unknown): AgentError {
  const why = reason('model_failed', { model: modelId, provider, error: messageOf(error) });
  return new AgentError(failure('upstream_unreachable', why), { cause: error });
}
