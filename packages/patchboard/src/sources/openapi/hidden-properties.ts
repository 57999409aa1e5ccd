import { isRecord, type JsonObject } from '@patchboard/wire/json';
import type { Dialect } from './schema-dialect.ts';

/** Which side sends the value: the caller of the tool, or the HTTP API. */
export type Direction = 'input' | 'output';

/**
 * Returns the properties that a schema declares, itself or through `allOf`, and that are not sent in this direction: those
 * with `readOnly` in an input, those with `writeOnly` in an output.
 */
export function hiddenNames(
  schema: JsonObject,
  dialect: Pick<Dialect, 'description' | 'direction'>,
): ReadonlySet<string> {
  const names = new Set<string>();
  collect(schema, dialect, names, new Set());
  return names;
}

function collect(
  given: unknown,
  dialect: Pick<Dialect, 'description' | 'direction'>,
  names: Set<string>,
  visited: Set<unknown>,
): void {
  if (!isRecord(given) || visited.has(given)) return;
  visited.add(given);
  const { properties, allOf } = given;
  for (const [name, property] of Object.entries(isRecord(properties) ? properties : {})) {
    if (isHidden(property, dialect)) names.add(name);
  }
  if (!Array.isArray(allOf)) return;
  for (const part of allOf) collect(dialect.description.references.follow(part), dialect, names, visited);
}

function isHidden(
  property: unknown,
  { description, direction }: Pick<Dialect, 'description' | 'direction'>,
): boolean {
  const flag = direction === 'input' ? 'readOnly' : 'writeOnly';
  if (!isRecord(property)) return false;
  if (property[flag] === true) return true;
  const target = description.references.follow(property);
  return isRecord(target) && target[flag] === true;
}
