import type {
  BatchView,
  FormattedToolsView,
  ParseReportView,
  PromptView,
  ToolCallConfigView,
  ToolResultView,
} from '@patchboard/wire';
import { record, type Decoder } from '../decode/decode.ts';
import { boundsOf, request, withQuery, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';

export interface RunReplyOptions extends RequestOptions {
  /** The run of its calls. Default: the client's. */
  readonly runId?: string;
  /** Identifies one reply, so that a retried request cannot run a call twice. Default: a new key. */
  readonly idempotencyKey?: string;
  /** How long the server waits for the calls to end before it responds, at most 60. Default: the client's `pollSeconds`. */
  readonly waitSeconds?: number;
}

export interface PromptQuestion {
  readonly config: Partial<ToolCallConfigView>;
  /** Maximum length of the prompt in characters. */
  readonly budget?: number;
  /** Text about the topic of the conversation, used to rank tools. */
  readonly relevantTo?: string;
}

/** Checks only that the body is an object; its members are trusted to match the wire types. */
const asView =
  <T>(): Decoder<T> =>
  (value, path) =>
    record(value, path) as T;

export async function formatTools(
  settings: Settings,
  format: string,
  options: RequestOptions,
): Promise<FormattedToolsView> {
  const what: HttpRequest = { method: 'GET', path: withQuery('/v1/tools', { format }), repeat: 'safe' };
  return await request(settings, what, asView<FormattedToolsView>(), boundsOf(options));
}

export async function parseReply(
  settings: Settings,
  body: { readonly protocol: string; readonly text: string },
  options: RequestOptions,
): Promise<ParseReportView> {
  const what: HttpRequest = { method: 'POST', path: '/v1/parse', body, repeat: 'safe' };
  return await request(settings, what, asView<ParseReportView>(), boundsOf(options));
}

export async function runReply(
  settings: Settings,
  { format, reply }: { readonly format: string; readonly reply: unknown },
  options: RunReplyOptions,
): Promise<BatchView> {
  const what: HttpRequest = {
    method: 'POST',
    path: '/v1/tool_calls/batch',
    headers: { 'idempotency-key': options.idempotencyKey ?? settings.newId() },
    body: { format, reply, run_id: options.runId ?? settings.runId },
    waitSeconds: options.waitSeconds ?? settings.pollSeconds,
    repeat: 'safe', // because of the idempotency key
  };
  return await request(settings, what, asView<BatchView>(), boundsOf(options));
}

export async function writePrompt(
  settings: Settings,
  { config, budget, relevantTo }: PromptQuestion,
  options: RequestOptions,
): Promise<PromptView> {
  const body = {
    config,
    ...(budget === undefined ? {} : { budget }),
    ...(relevantTo === undefined ? {} : { relevant_to: relevantTo }),
  };
  const what: HttpRequest = { method: 'POST', path: '/v1/prompt', body, repeat: 'safe' };
  return await request(settings, what, asView<PromptView>(), boundsOf(options));
}

export async function formatResults(
  settings: Settings,
  body: { readonly protocol: string; readonly results: readonly ToolResultView[] },
  options: RequestOptions,
): Promise<string> {
  const what: HttpRequest = { method: 'POST', path: '/v1/format', body, repeat: 'safe' };
  return (await request(settings, what, asView<{ readonly text: string }>(), boundsOf(options))).text;
}
