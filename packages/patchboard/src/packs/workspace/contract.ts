import type { JsonSchema, Reason } from '@patchboard/wire';
import { failure, ToolFailure } from '../../core/failures.ts';
import { isRecord } from '@patchboard/wire/json';

type Property = Readonly<Record<string, unknown>>;

export const TEXT: Property = { type: 'string' };
export const FLAG: Property = { type: 'boolean' };
export const PATH: Property = {
  type: 'string',
  minLength: 1,
  maxLength: 4096,
  description: 'from the root of the workspace',
};

export function count(minimum: number, maximum: number, description: string): Property {
  return { type: 'integer', minimum, maximum, description };
}

/** A closed object schema, so that a misspelt name is an error instead of an ignored argument. */
export function object(
  properties: Readonly<Record<string, Property>>,
  required: readonly string[],
): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** Arguments have passed the schema; this only narrows the type. */
export function argumentsOf<Args>(args: unknown): Args {
  return args as Args;
}

/** Renames aliases to the names of the schema. If both are given, the schema refuses the alias. */
export function renamed(args: unknown, names: Readonly<Record<string, string>>): unknown {
  if (!isRecord(args)) return args;
  const given = args as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const own = Object.hasOwn(names, name) ? names[name] : undefined;
      return own === undefined || Object.hasOwn(given, own) ? [name, value] : [own, value];
    }),
  );
}

/** Returns false for a lone surrogate, which UTF-8 cannot encode. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

export function refuse(
  code: 'input_invalid' | 'tool_failed' | 'conflict' | 'result_too_large',
  why: Reason,
): ToolFailure {
  return new ToolFailure(failure(code, why));
}
