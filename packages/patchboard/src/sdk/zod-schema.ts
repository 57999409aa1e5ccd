import type { JsonSchema } from '@patchboard/wire';
import { z } from 'zod';
import { isRecord } from '../core/json/is-record.ts';

/** Of zod 4 or zod/mini. */
export type ZodSchema = z.core.$ZodType;

/** By what it has, not by its class: a program may hold more than one copy of zod. */
export function isZodSchema(value: unknown): value is ZodSchema {
  return isRecord(value) && '_zod' in value;
}

/** Whoever took one for a JSON Schema would find nothing in it that any value breaks. */
export function isSchemaOfLibrary(value: unknown): boolean {
  return isZodSchema(value) || (isRecord(value) && ('_def' in value || '~standard' in value));
}

export function zodToJsonSchema(schema: ZodSchema, io: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return json;
}
