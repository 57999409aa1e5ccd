import type { JsonSchema } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import type { JsonType } from '../protocols/schema-facts.ts';
import { typesOf } from './arguments.ts';
import { propertySchema, schemaBranches } from './schema-parts.ts';

/** One field of the form. */
export interface InputField {
  /** The property; null if the content is no object with known properties. */
  readonly name: string | null;
  readonly title: string;
  readonly description: string;
  readonly types: ReadonlySet<JsonType>;
  /** The only values that are allowed; null if any value of the types is. */
  readonly choices: readonly Choice[] | null;
  readonly hasDefault: boolean;
  readonly default: unknown;
  readonly isRequired: boolean;
}

interface Choice {
  readonly value: unknown;
  readonly label: string;
}

/** Returns the fields of a form for the schema, in its order. */
export function inputFields(schema: JsonSchema): readonly InputField[] {
  const names = propertyNames(schema);
  if (names.length === 0) return [fieldOf(schema, schema, null, true)];
  const required = schemaBranches(schema).flatMap((branch) =>
    Array.isArray(branch['required']) ? (branch['required'] as unknown[]) : [],
  );
  return names.map((name) => fieldOf(schema, propertySchema(schema, name), name, required.includes(name)));
}

function propertyNames(schema: JsonSchema): string[] {
  const names = schemaBranches(schema).flatMap((branch) =>
    isRecord(branch['properties']) ? Object.keys(branch['properties']) : [],
  );
  return [...new Set(names)];
}

function fieldOf(root: JsonSchema, schema: unknown, name: string | null, isRequired: boolean): InputField {
  const branches = schemaBranches(root, schema);
  const first = (keyword: string): unknown =>
    branches.map((branch) => branch[keyword]).find((value) => value !== undefined);
  const title = first('title');
  const description = first('description');
  return {
    name,
    title: typeof title === 'string' ? title : (name ?? 'Response'),
    description: typeof description === 'string' ? description : '',
    types: typesOf(schema, root),
    choices: choicesOf(branches),
    hasDefault: branches.some((branch) => branch['default'] !== undefined),
    default: first('default'),
    isRequired,
  };
}

/** From `enum` (with `enumNames`), or from `oneOf` and `anyOf` of which every part is a `const`. */
function choicesOf(branches: readonly Readonly<Record<string, unknown>>[]): readonly Choice[] | null {
  for (const branch of branches) {
    const { enum: values, enumNames: labels } = branch;
    if (Array.isArray(values))
      return values.map((value: unknown, at) =>
        choice(value, Array.isArray(labels) ? (labels as unknown[])[at] : null),
      );
    for (const parts of [branch['oneOf'], branch['anyOf']])
      if (Array.isArray(parts) && parts.every((part) => isRecord(part) && Object.hasOwn(part, 'const')))
        return (parts as Readonly<Record<string, unknown>>[]).map((part) =>
          choice(part['const'], part['title']),
        );
  }
  return null;
}

function choice(value: unknown, label: unknown): Choice {
  if (typeof label === 'string') return { value, label };
  return { value, label: typeof value === 'string' ? value : JSON.stringify(value) };
}
