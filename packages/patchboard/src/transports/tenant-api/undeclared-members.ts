import type { JsonSchema } from '@patchboard/wire';
import { isRecord } from '../../core/json/is-record.ts';
import { pointerTo } from '../../core/json/json-pointer.ts';

/** A remark on a request that was taken. */
export interface Warning {
  readonly code: 'undeclared_member';
  /** A JSON pointer into the request's `input`. */
  readonly path: string;
  readonly message: string;
}

/** With any of these, which members a schema declares cannot be read off its `properties`. */
const OTHER_DECLARATIONS = ['additionalProperties', 'patternProperties', '$ref', 'allOf', 'anyOf', 'oneOf'];

/** Members of an input that the tool's schema lets through without declaring them: most likely misspelt. */
export function undeclaredMembers(schema: JsonSchema, input: unknown): readonly Warning[] {
  if (!isRecord(schema) || !isRecord(input)) return [];
  const { properties } = schema;
  if (!isRecord(properties) || OTHER_DECLARATIONS.some((keyword) => keyword in schema)) return [];
  return Object.keys(input)
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => ({
      code: 'undeclared_member',
      path: pointerTo('', name),
      message: `input has a member ${name}, which the tool does not declare; it is ignored`,
    }));
}
