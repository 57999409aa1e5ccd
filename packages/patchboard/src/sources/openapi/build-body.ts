import { reason } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import { argumentProblem } from './argument-problem.ts';
import { bytesOfBase64 } from './base64-argument.ts';
import { encodeMultipart } from './multipart.ts';
import type { OperationBody } from './operation.ts';
import { formText } from './form-members.ts';
import { isJsonMediaType, primitiveText } from './parameter-values.ts';

export interface BuiltBody {
  readonly contentType: string;
  readonly content: string | Uint8Array<ArrayBuffer>;
}

/** Serialises the body as its media type. Returns null if there is none. */
export function buildBody(body: OperationBody, value: unknown): BuiltBody | null {
  const { argument, mediaType } = body;
  if (value === undefined) {
    if (body.required) throw argumentProblem(argument, reason('openapi_value_missing'));
    return null;
  }
  const essence = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  if (body.binary === true)
    return { contentType: withoutWildcard(mediaType), content: bytesOfBase64(value, argument) };
  if (essence === 'application/x-www-form-urlencoded')
    return { contentType: mediaType, content: formText(body, membersOf(value, body)) };
  if (essence === 'multipart/form-data') return encodeMultipart(membersOf(value, body), body);
  if (isJsonMediaType(mediaType))
    return {
      contentType: essence.includes('*') ? 'application/json' : mediaType,
      content: JSON.stringify(value),
    };
  if (essence !== 'text/plain' && typeof value !== 'string')
    throw argumentProblem(argument, reason('openapi_value_not_text', { mediaType }));
  return { contentType: withoutWildcard(mediaType), content: primitiveText(value) };
}

function withoutWildcard(mediaType: string): string {
  if (!mediaType.includes('*')) return mediaType;
  return mediaType.startsWith('text/') ? 'text/plain' : 'application/octet-stream';
}

function membersOf(
  value: unknown,
  { argument, mediaType }: OperationBody,
): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw argumentProblem(argument, reason('openapi_value_not_object', { mediaType }));
  return value;
}
