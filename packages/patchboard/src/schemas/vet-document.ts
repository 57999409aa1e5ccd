import { reason } from '@patchboard/wire';
import { pointerTo } from '../core/json/json-pointer.ts';
import { hasHiddenCharacters } from '../core/tools/tool-names.ts';
import { isRecord } from '../core/json/is-record.ts';
import type { JsonObject } from './keywords.ts';
import { SchemaProblem } from './schema-problem.ts';

/** Throws a `SchemaProblem` for hidden characters, dangerous keys and excessive depth, also in parts that no keyword uses. */
export function vetDocument(document: unknown, maxDepth: number): void {
  vet(document, '', maxDepth);
}

function vet(value: unknown, pointer: string, depthLeft: number): void {
  if (typeof value === 'string') return vetText(value, pointer);
  if (typeof value !== 'object' || value === null) return;
  if (depthLeft === 0) throw new SchemaProblem(pointer, reason('schema_too_deep'));
  if (Array.isArray(value)) {
    for (const [place, item] of value.entries()) vet(item, pointerTo(pointer, place), depthLeft - 1);
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    vetText(key, pointer);
    const place = pointerTo(pointer, key);
    if (key === '__proto__') throw new SchemaProblem(place, reason('json_key_forbidden', { key }));
    if (key === 'constructor' && hasPrototype(member)) {
      throw new SchemaProblem(place, reason('json_prototype_forbidden'));
    }
    vet(member, place, depthLeft - 1);
  }
}

function vetText(text: string, pointer: string): void {
  if (hasHiddenCharacters(text)) throw new SchemaProblem(pointer, reason('hidden_characters'));
}

function hasPrototype(value: unknown): boolean {
  return isRecord(value) && Object.hasOwn(value as JsonObject, 'prototype');
}
