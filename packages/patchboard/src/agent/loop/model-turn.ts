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
import { SpokenText } from '../dialects/spoken-text.ts';

export interface ModelTurn {
  readonly model: LanguageModel;
  readonly dialect: Dialect;
  readonly settings: ModelSettings;
  readonly conversation: Conversation;
  /** All that a reply may name; `conversation` has those that are offered. */
  readonly tools: readonly RegisteredTool[];
  readonly signal: AbortSignal;
  /** How often a request that the vendor did not take is sent again. */
  readonly maxRetries: number;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onText: (delta: string) => void;
  /** Told of every request as soon as it is whole, with the reply so far. */
  readonly onRequests: (requests: readonly ToolRequest[], reply: Reply) => void;
}

export interface ModelAnswer {
  readonly reply: Reply;
  readonly usage: Usage;
  /** In the AI SDK's words: `stop`, `tool-calls`, `length`, …; `aborted` when the signal cut it short. */
  readonly finishReason: string;
}

const RETRY_BASE_MS = 500;
const RETRY_MAX_MS = 30_000;

/** How a reply ends that nobody cut short and that is not whole. */
const BROKEN: ReadonlySet<string> = new Set(['aborted', 'error', 'interrupted']);

/** Asks the model once and reads its reply as it streams. */
export async function askModel(turn: ModelTurn): Promise<ModelAnswer> {
  const spoken = new SpokenText(turn.clock, turn.onText);
  try {
    return await askUntilTaken({ ...turn, onText: (delta) => spoken.add(delta) });
  } finally {
    spoken.end();
  }
}

async function askUntilTaken(turn: ModelTurn): Promise<ModelAnswer> {
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

async function readReply(turn: ModelTurn): Promise<ModelAnswer> {
  const { model, dialect, settings, conversation, tools, signal } = turn;
  const replies = conversation.messages.filter(({ role }) => role === 'assistant').length;
  const reader = dialect.reader(tools, replies + 1);
  let told = 0;
  let usage: Usage = { inputTokens: 0, outputTokens: 0 };
  let finishReason = 'aborted';
  let hasBegun = false;
  try {
    const request = { ...settings, ...dialect.encode(conversation), abortSignal: signal };
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
      if (requests.length > told) turn.onRequests(requests.slice(told), reader.reply());
      told = requests.length;
    }
  } catch (error) {
    // What somebody has read cannot be asked for again.
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
    // Whoever stops early must not leave the vendor talking.
    await reader.cancel().catch(() => {});
  }
}

function usageOf({ usage }: Extract<KnownPart, { type: 'finish' }>): Usage {
  return { inputTokens: usage.inputTokens.total ?? 0, outputTokens: usage.outputTokens.total ?? 0 };
}

/** Null: it is not worth another try. Providers of the AI SDK say of their errors whether they may pass. */
function retryPause({ maxRetries, ids }: ModelTurn, error: unknown, attempt: number): number | null {
  if (attempt >= maxRetries || typeof error !== 'object' || error === null) return null;
  const { isRetryable, responseHeaders } = error as {
    isRetryable?: unknown;
    responseHeaders?: Readonly<Record<string, string>>;
  };
  if (isRetryable !== true) return null;
  const asked = Number(responseHeaders?.['retry-after']) * 1000;
  const own = RETRY_BASE_MS * 2 ** attempt * (0.5 + ids.random() / 2);
  return Math.min(asked >= 0 ? asked : own, RETRY_MAX_MS);
}

async function pause({ clock, signal }: ModelTurn, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      callOff();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const callOff = clock.after(ms, finish);
    signal.addEventListener('abort', finish);
    if (signal.aborted) finish();
  });
}

function modelFailure({ provider, modelId }: LanguageModel, error: unknown): AgentError {
  const message = `the model ${modelId} of ${provider} failed: ${messageOf(error)}`;
  return new AgentError(failure('upstream_unreachable', message), { cause: error });
}
