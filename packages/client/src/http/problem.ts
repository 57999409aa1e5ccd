import { isCallState } from '@patchboard/wire';
import { isRecord, Undecodable, type Decoder } from '../decode/decode.ts';
import { decodeIssues } from '../decode/views.ts';
import { PatchboardError, type ErrorFacts } from '../errors.ts';

/** An answer as it came, whatever it is. */
export interface Reply {
  /** Method and address, for messages. */
  readonly where: string;
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** Reads a 2xx answer, or throws an error that says what came instead. */
export function readReply<T>(reply: Reply, decode: Decoder<T>): T {
  if (reply.status < 200 || reply.status > 299) throw errorOf(reply);
  // Some answers have nothing to say (204); whoever needs a body will miss it below.
  const body = reply.text === '' ? { value: undefined } : parseJson(reply.text);
  if (body === undefined) throw badResponse(reply, `is not JSON${excerpt(reply)}`);
  try {
    return decode(body.value, '');
  } catch (error) {
    if (error instanceof Undecodable) throw badResponse(reply, `is not understood: ${error.message}`);
    throw error;
  }
}

/** A problem document if it is one; else, say, a proxy's page, told as such. */
export function errorOf(reply: Reply): PatchboardError {
  const problem = parseJson(reply.text)?.value;
  if (!isRecord(problem) || typeof problem['code'] !== 'string') {
    return badResponse(reply, `did not come from Patchboard${excerpt(reply)}`);
  }
  const detail = textOf(problem['detail']) ?? textOf(problem['title']) ?? problem['code'];
  const facts: ErrorFacts = {
    code: problem['code'],
    status: reply.status,
    retryable: problem['retryable'] === true,
    toolCallId: textOf(problem['tool_call_id']) ?? null,
    issues: issuesOf(problem['errors']),
    recommendations: stringsOf(problem['recommendations']),
    state: isCallState(problem['state']) ? problem['state'] : null,
    retryAfterMs: retryAfterMs(reply.retryAfter),
  };
  return new PatchboardError('problem', detail, facts);
}

/** Seconds or a date, as RFC 9110 has it. */
export function retryAfterMs(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(at - Date.now(), 0);
}

export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

export function badResponse(reply: Omit<Reply, 'text'>, what: string): PatchboardError {
  return new PatchboardError('bad_response', `${reply.where} answered ${reply.status}, which ${what}`, {
    code: 'bad_response',
    status: reply.status,
    retryable: reply.status === 429 || reply.status >= 500,
    retryAfterMs: retryAfterMs(reply.retryAfter),
  });
}

const EXCERPT_CHARS = 160;

/** Enough of a page to recognise it, without its markup. */
function excerpt(reply: Reply): string {
  const words = reply.text
    .slice(0, 20_000)
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const short = words.length > EXCERPT_CHARS ? `${words.slice(0, EXCERPT_CHARS)}…` : words;
  const type = reply.contentType === '' ? '' : ` (${reply.contentType.split(';')[0] ?? ''})`;
  return short === '' ? type : `${type}: ${short}`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** An error must reach the caller even if its details are malformed. */
function issuesOf(value: unknown): ReturnType<typeof decodeIssues> {
  try {
    return decodeIssues(value, 'errors');
  } catch {
    return [];
  }
}
