import { isRecord, type JsonObject } from '@patchboard/wire/json';

/** Whether the schema stands for bytes that are sent as they are, which an argument holds as base64. */
export function isBinary(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  const { type, format, contentMediaType, contentEncoding } = schema;
  if (type === 'file') return true;
  if (type !== undefined && type !== 'string') return false;
  if (format === 'binary') return true;
  return (
    typeof contentMediaType === 'string' && contentEncoding === undefined && !isTextual(contentMediaType)
  );
}

/** Converts the schema of bytes to that of their base64 text; returns any other as it is. */
export function asBase64(schema: JsonObject): JsonObject {
  if (!isBinary(schema)) return schema;
  const { format: _format, minLength: _min, maxLength: _max, pattern: _pattern, ...rest } = schema;
  return { ...rest, type: 'string', contentEncoding: 'base64' };
}

function isTextual(mediaType: string): boolean {
  return /^(?:text\/|application\/(?:[^;]*[+/])?(?:json|xml|yaml)\s*(?:;|$))/i.test(mediaType.trim());
}
