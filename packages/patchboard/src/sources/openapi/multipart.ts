import { randomUUID } from 'node:crypto';
import { reason } from '@patchboard/wire';
import { argumentProblem } from './argument-problem.ts';
import { bytesOfBase64 } from './base64-argument.ts';
import type { BuiltBody } from './build-body.ts';
import { encodingOf } from './form-members.ts';
import { isHeaderValue } from './header-parameters.ts';
import type { MemberEncoding, OperationBody } from './operation.ts';
import { primitiveText } from './parameter-values.ts';

/**
 * Encodes `multipart/form-data`. The bytes are made here because a `FormData` of one implementation of fetch is not
 * recognised by another.
 */
export function encodeMultipart(
  members: Readonly<Record<string, unknown>>,
  { argument, encoding }: OperationBody,
): BuiltBody {
  const boundary = `patchboard-${randomUUID()}`;
  const chunks: (string | Uint8Array)[] = [];
  for (const [name, value] of Object.entries(members)) {
    // A list is sent as several parts of one name.
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (item === null || item === undefined) continue;
      const part = partOf(name, item, encodingOf(encoding, name), `${argument}.${name}`);
      chunks.push(`--${boundary}\r\n${part.head}\r\n\r\n`, part.content, '\r\n');
    }
  }
  chunks.push(`--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    content: Uint8Array.from(Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as string)))),
  };
}

function partOf(
  name: string,
  value: unknown,
  encoding: MemberEncoding | undefined,
  argument: string,
): { readonly head: string; readonly content: string | Uint8Array } {
  const isFile = encoding?.binary === true;
  const contentType = encoding?.contentType?.split(',')[0]?.trim() ?? defaultType(value, isFile);
  if (!isHeaderValue(contentType)) throw argumentProblem(argument, reason('openapi_value_header'));
  const escaped = escapeName(name);
  const lines = [
    `Content-Disposition: form-data; name="${escaped}"${isFile ? `; filename="${escaped}"` : ''}`,
    ...(contentType === 'text/plain' ? [] : [`Content-Type: ${contentType}`]),
  ];
  return {
    head: lines.join('\r\n'),
    content: isFile ? bytesOfBase64(value, argument) : primitiveText(value),
  };
}

function defaultType(value: unknown, isFile: boolean): string {
  if (isFile) return 'application/octet-stream';
  return typeof value === 'object' ? 'application/json' : 'text/plain';
}

/** As the HTML standard escapes names of form fields. */
function escapeName(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}
