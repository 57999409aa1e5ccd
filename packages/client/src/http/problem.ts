import { isCallState } from '@patchboard/wire';
import { isRecord, Undecodable, type Decoder } from '../decode/decode.ts';
import { decodeIssues, decodeReasons } from '../decode/views.ts';
import { PatchboardError, type ErrorFacts } from '../errors.ts';

/** An HTTP response before decoding. */
export interface RawResponse {
  /** Method and address, for messages. */
  readonly where: string;
  readonly status: number;
  readonly contentType: string;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** Decodes a 2xx response, or throws an error that describes the response. */
export function readResponse<T>(response: RawResponse, decode: Decoder<T>): T {
  if (response.status < 200 || response.status > 299) throw errorOf(response);
  // The body may be empty (204); a decoder that needs a body throws below.
  const body = response.text === '' ? { value: undefined } : parseJson(response.text);
  if (body === undefined) throw badResponse(response, `is not JSON${excerpt(response)}`);
  try {
    return decode(body.value, '');
  } catch (error) {
    if (error instanceof Undecodable) throw badResponse(response, `is not understood: ${error.message}`);
    throw error;
  }
}

/** Converts a problem document to an error; anything else, such as a proxy's page, to `bad_response`. */
export function errorOf(response: RawResponse): PatchboardError {
  const problem = parseJson(response.text)?.value;
  if (!isRecord(problem) || typeof problem['code'] !== 'string') {
    return badResponse(response, `did not come from Patchboard${excerpt(response)}`);
  }
  const detail = textOf(problem['detail']) ?? textOf(problem['title']) ?? problem['code'];
  const facts: ErrorFacts = {
    code: problem['code'],
    status: response.status,
    retryable: problem['retryable'] === true,
    toolCallId: textOf(problem['tool_call_id']) ?? null,
    issues: issuesOf(problem['errors']),
    reasons: decodeReasons(problem['reasons'], 'reasons') ?? [],
    recommendations: stringsOf(problem['recommendations']),
    state: isCallState(problem['state']) ? problem['state'] : null,
    retryAfterMs: retryAfterMs(response.retryAfter),
  };
  return new PatchboardError('problem', detail, facts);
}

/** Parses `Retry-After`: seconds or a date (RFC 9110). */
function retryAfterMs(header: string | null): number | null {
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

export function badResponse(response: Omit<RawResponse, 'text'>, what: string): PatchboardError {
  return new PatchboardError('bad_response', `${response.where} returned ${response.status}, which ${what}`, {
    code: 'bad_response',
    status: response.status,
    retryable: response.status === 429 || response.status >= 500,
    retryAfterMs: retryAfterMs(response.retryAfter),
  });
}

const EXCERPT_CHARS = 160;

/** The start of the body without HTML markup, for error messages. */
function excerpt(response: RawResponse): string {
  const words = response.text
    .slice(0, 20_000)
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const short = words.length > EXCERPT_CHARS ? `${words.slice(0, EXCERPT_CHARS)}…` : words;
  const type = response.contentType === '' ? '' : ` (${response.contentType.split(';')[0] ?? ''})`;
  return short === '' ? type : `${type}: ${short}`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** Returns no issues if they are malformed: the error itself must still reach the caller. */
function issuesOf(value: unknown): ReturnType<typeof decodeIssues> {
  try {
    return decodeIssues(value, 'errors');
  } catch {
    return [];
  }
}
