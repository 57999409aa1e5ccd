import type { JsonSchema } from '@patchboard/wire';
import { isRecord, pointerTo } from '@patchboard/wire/json';

/** A warning about an accepted request. */
export interface Warning {
  readonly code: 'undeclared_member';
  /** A JSON pointer into the request's `input`. */
  readonly path: string;
  readonly message: string;
}

/** With any of these keywords, `properties` does not list all declared members. */
const OTHER_DECLARATIONS = ['additionalProperties', 'patternProperties', '$ref', 'allOf', 'anyOf', 'oneOf'];

/** Returns warnings for members that the tool's schema allows but does not declare: most are misspelt. */
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
