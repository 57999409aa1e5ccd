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
  /** The run its calls join. Default: the client's. */
  readonly runId?: string;
  /** One per reply. Default: a new one, so that a repeated request can never run a call twice. */
  readonly idempotencyKey?: string;
  /** How long the answer may wait for the calls to end, at most 60. Default: the client's patience for one request. */
  readonly waitSeconds?: number;
}

export interface PromptQuestion {
  readonly config: Partial<ToolCallConfigView>;
  /** Characters the prompt may take. */
  readonly budget?: number;
  /** What the conversation is about. */
  readonly relevantTo?: string;
}

/** Bodies of one server are of one making: that it is an object at all is checked, its members are typed by the wire. */
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
    repeat: 'safe', // by its key
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
