import { isRecord, type JsonObject } from '@patchboard/wire/json';
import { isBinary } from './binary-schema.ts';
import type { MemberEncoding } from './operation.ts';
import type { Description } from './read-description.ts';

/** How the members of a form are sent, by name; null: as OpenAPI says for their values. */
export function formEncoding(
  { schema, encoding }: JsonObject,
  description: Description,
): Readonly<Record<string, MemberEncoding>> | null {
  const given = isRecord(encoding) ? encoding : {};
  const files = new Set<string>();
  collectFiles(schema, description, files, new Set());
  const names = new Set([...Object.keys(given), ...files]);
  const members = [...names].map((name): [string, MemberEncoding] => [
    name,
    memberEncoding(given[name], files.has(name)),
  ]);
  const stated = members.filter(([, member]) => Object.keys(member).length > 0);
  return stated.length === 0 ? null : Object.fromEntries(stated);
}

function memberEncoding(given: unknown, isFile: boolean): MemberEncoding {
  const { contentType, style, explode, allowReserved }: JsonObject = isRecord(given) ? given : {};
  return {
    ...(typeof contentType === 'string' ? { contentType } : {}),
    ...(typeof style === 'string' ? { style } : {}),
    ...(typeof explode === 'boolean' ? { explode } : {}),
    ...(typeof allowReserved === 'boolean' ? { allowReserved } : {}),
    ...(isFile ? { binary: true } : {}),
  };
}

/** A list of files is sent as one part each. */
function collectFiles(
  given: unknown,
  description: Description,
  files: Set<string>,
  visited: Set<unknown>,
): void {
  const { references } = description;
  const schema = references.follow(given);
  if (!isRecord(schema) || visited.has(schema)) return;
  visited.add(schema);
  for (const [name, property] of Object.entries(isRecord(schema['properties']) ? schema['properties'] : {})) {
    const target = references.follow(property);
    const items = isRecord(target) ? references.follow(target['items']) : undefined;
    if (isBinary(target) || isBinary(items)) files.add(name);
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const parts = schema[keyword];
    if (Array.isArray(parts)) for (const part of parts) collectFiles(part, description, files, visited);
  }
}
