import type { JsonSchema } from '@patchboard/wire';
import { z } from 'zod';
import { isRecord } from '@patchboard/wire/json';

/** A schema of zod 4 or zod/mini. */
export type ZodSchema = z.core.$ZodType;

/** Checks for a property instead of the class, because a program may contain more than one copy of zod. */
export function isZodSchema(value: unknown): value is ZodSchema {
  return isRecord(value) && '_zod' in value;
}

/** Detects schemas of validation libraries. Read as a JSON Schema, such a schema would accept every value. */
export function isSchemaOfLibrary(value: unknown): boolean {
  return isZodSchema(value) || (isRecord(value) && ('_def' in value || '~standard' in value));
}

export function zodToJsonSchema(schema: ZodSchema, io: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return json;
}
