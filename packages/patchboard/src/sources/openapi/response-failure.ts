import { STATUS_CODES } from 'node:http';
import { reason, type OutcomeKnowledge } from '@patchboard/wire';
import { failure, ToolFailure } from '../../core/failures.ts';
import { isRecord } from '@patchboard/wire/json';
import { visibleLine } from '../../core/tools/tool-names.ts';
import type { SecretMask } from '../shared/secret-mask.ts';
import type { Operation } from './operation.ts';
import { isJsonMediaType } from './parameter-values.ts';
import { parsed } from './read-response.ts';
import { decodeText, mediaTypeOf, readBeginning } from './response-body.ts';

/** How much of the body of an error response is kept. */
const ERROR_BODY_CHARACTERS = 16_384;
/** More is read than kept, so that a secret at the end of the kept part is usually complete when it is masked. */
const READ_BYTES = 32_768;
const DETAIL_CHARACTERS = 500;
/** The members in which APIs describe an error, and those of RFC 9457. */
const DETAIL_MEMBERS = ['detail', 'message', 'error_description', 'error', 'title', 'description'];

/**
 * Converts a response that is no success to a failure with its status and body. A server that refuses a request for its
 * credentials or its rate did not begin; one that fails may have. `idempotent`: whether the tool is.
 */
export async function responseFailure(
  { method, path }: Operation,
  response: Response,
  mask: SecretMask,
  idempotent: boolean,
): Promise<ToolFailure> {
  const { status } = response;
  const { bytes, isCut } = await readBeginning(response, READ_BYTES);
  const body = bodyOf(decodeText(bytes, response), mediaTypeOf(response), {
    value: (json) => mask.value(json),
    text: (text) => (isCut ? mask.cut(text) : mask.text(text)),
  });
  const text = STATUS_CODES[status] ?? '';
  const params = { method, path, status: `${status} ${text}`.trim() };
  const detail = detailOf(body);
  const location = status < 400 ? response.headers.get('location') : null;
  const why =
    location === null
      ? detail === ''
        ? reason('openapi_status', params)
        : reason('openapi_status_detail', { ...params, detail })
      : reason('openapi_redirect', { ...params, location: mask.text(location).slice(0, DETAIL_CHARACTERS) });
  const outcome = outcomeOf(status);
  return new ToolFailure(
    failure('tool_failed', why, {
      retryable: isTransient(status) && (outcome === 'not_started' || idempotent),
      ...(outcome === undefined ? {} : { outcome }),
      toolResult: { status, ...(body === null ? {} : { body }) },
    }),
  );
}

/** A status of 4xx is a result that is known, except where the server did not decide about the request. */
function outcomeOf(status: number): OutcomeKnowledge | undefined {
  if (status === 401 || status === 403 || status === 429) return 'not_started';
  return status >= 500 || status < 400 || status === 408 ? 'unknown' : undefined;
}

/** Whether the same request may succeed later. */
function isTransient(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505);
}

/** Returns JSON if it is whole and short, else the beginning of the text; null if there is none. */
function bodyOf(text: string, mediaType: string, mask: Pick<SecretMask, 'text' | 'value'>): unknown {
  if (text === '') return null;
  const json = text.length <= ERROR_BODY_CHARACTERS && isJsonMediaType(mediaType) ? parsed(text) : undefined;
  return json === undefined ? mask.text(text).slice(0, ERROR_BODY_CHARACTERS) : mask.value(json);
}

function detailOf(body: unknown): string {
  // The first line of an HTML page has no message.
  if (typeof body === 'string') return body.trimStart().startsWith('<') ? '' : short(body);
  if (!isRecord(body)) return '';
  for (const member of DETAIL_MEMBERS) {
    const found = body[member];
    if (typeof found === 'string' && found !== '') return short(found);
    const nested = isRecord(found) ? found['message'] : undefined;
    if (typeof nested === 'string' && nested !== '') return short(nested);
  }
  return '';
}

function short(text: string): string {
  const line = visibleLine(text);
  return line.length > DETAIL_CHARACTERS ? `${line.slice(0, DETAIL_CHARACTERS)}…` : line;
}
