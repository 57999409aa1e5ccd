import { audioBlock, content, imageBlock, reason, resourceBlock } from '@patchboard/wire';
import { failure, ToolFailure } from '../../core/failures.ts';
import type { SecretMask } from '../shared/secret-mask.ts';
import { isJsonMediaType } from './parameter-values.ts';
import { decodeText, mediaTypeOf, readBytes } from './response-body.ts';

/** The largest response body. */
export const RESPONSE_BYTES = 4_194_304;

export interface ReadResponseOptions {
  /** That of the request. */
  readonly url: string;
  readonly mask: SecretMask;
  /** Whether the tool has an output schema, which is that of a JSON value. */
  readonly expectsJson: boolean;
}

/**
 * Returns the result of a successful response: a JSON value, a text, or a content value for other media types; null if it
 * has no body.
 */
export async function readResponse(
  response: Response,
  { url, mask, expectsJson }: ReadResponseOptions,
): Promise<unknown> {
  const bytes = await readBytes(response, RESPONSE_BYTES);
  if (bytes.length === 0) return null;
  const mediaType = mediaTypeOf(response);
  if (isJson(mediaType)) return mask.value(parse(decodeText(bytes, response), mediaType));
  // Some servers send JSON as text, or without a type.
  const json =
    expectsJson && (mediaType === '' || isText(mediaType)) ? parsed(decodeText(bytes, response)) : undefined;
  if (json !== undefined) return mask.value(json);
  if (isText(mediaType)) return mask.text(decodeText(bytes, response));
  const masked = maskBytes(bytes, mask);
  if (mediaType.startsWith('image/')) return content([imageBlock(masked, mediaType)]);
  if (mediaType.startsWith('audio/')) return content([audioBlock(masked, mediaType)]);
  const { origin, pathname } = new URL(url);
  const shown = mask.text(origin + pathname);
  return content([resourceBlock(shown, masked, mediaType === '' ? 'application/octet-stream' : mediaType)]);
}

function isJson(mediaType: string): boolean {
  return isJsonMediaType(mediaType) && !mediaType.includes('*');
}

function isText(mediaType: string): boolean {
  return (
    mediaType.startsWith('text/') ||
    /^application\/(?:[^+]+\+)?(?:xml|yaml|x-yaml|javascript|x-www-form-urlencoded|x-ndjson|ndjson|jsonl|graphql|sql)$/.test(
      mediaType,
    )
  );
}

function parse(text: string, mediaType: string): unknown {
  const value = parsed(text);
  if (value !== undefined) return value;
  const why = reason('openapi_response_not_json', { mediaType });
  throw new ToolFailure(failure('output_invalid', why, { outcome: 'unknown' }));
}

/**
 * Returns undefined if the text is not JSON. The message of the parser is not shown: it quotes the text, which may hold a
 * part of a secret.
 */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A file may quote a secret as text. */
function maskBytes(bytes: Uint8Array, mask: SecretMask): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const masked = mask.text(text);
  return masked === text ? bytes : Buffer.from(masked, 'utf8');
}
