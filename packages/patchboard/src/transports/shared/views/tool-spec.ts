import {
  reason,
  type Reason,
  reasonText,
  type RejectedTool,
  TOOL_NAME_PATTERN,
  type ToolAnnotations,
  type ToolSpec,
} from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';

type Fields = Readonly<Record<string, unknown>>;

const KNOWN = new Set([
  'name',
  'schema',
  'timeout_ms',
  'description',
  'metadata',
  'output_schema',
  'annotations',
]);
const ANNOTATIONS = ['readonly', 'destructive', 'idempotent', 'requires_approval', 'asks_input'] as const;

/** The well-formed specs, and the rejected ones with reasons. */
export interface DecodedSpecs {
  readonly specs: readonly ToolSpec[];
  readonly rejected: readonly RejectedTool[];
}

/**
 * Validates each spec on its own. `schemaName` is the API's name for the schema of the arguments.
 */
export function decodeToolSpecs(
  given: readonly unknown[],
  schemaName: 'schema' | 'parameters' = 'schema',
): DecodedSpecs {
  const specs: ToolSpec[] = [];
  const rejected: RejectedTool[] = [];
  for (const [index, one] of given.entries()) {
    const decoded = decodeToolSpec(one, index, schemaName);
    if (decoded.ok) specs.push(decoded.spec);
    else rejected.push(decoded.rejected);
  }
  return { specs, rejected };
}

type DecodedSpec =
  { readonly ok: true; readonly spec: ToolSpec } | { readonly ok: false; readonly rejected: RejectedTool };

function decodeToolSpec(given: unknown, index: number, schemaName: string): DecodedSpec {
  if (!isRecord(given)) return reject(`tools[${index}]`, 'body_invalid', reason('spec_not_object'));
  const name = given['name'];
  if (typeof name !== 'string')
    return reject(`tools[${index}]`, 'name_invalid', reason('spec_name_not_text'));
  const shown = TOOL_NAME_PATTERN.test(name) ? name : name.slice(0, 128);
  const schemaProblem = problemWithSchemas(given, schemaName);
  if (schemaProblem !== null) return reject(shown, 'schema_invalid', schemaProblem);
  const problem = problemWithFields(given);
  if (problem !== null) return reject(shown, 'body_invalid', problem);
  // Every field was checked above.
  return { ok: true, spec: given as unknown as ToolSpec };
}

function problemWithSchemas(given: Fields, schemaName: string): Reason | null {
  const { schema, output_schema: output } = given;
  if (schema === undefined) return reason('spec_member_missing', { member: schemaName });
  if (!isSchema(schema)) return reason('spec_not_schema', { member: schemaName });
  if (output !== undefined && !isSchema(output)) {
    return reason('spec_not_schema', { member: 'output_schema' });
  }
  return null;
}

function problemWithFields(given: Fields): Reason | null {
  const { timeout_ms: timeout, description, metadata, annotations } = given;
  const unknown = Object.keys(given).filter((key) => !KNOWN.has(key));
  if (unknown.length > 0) return reason('spec_members_unknown', { members: unknown.slice(0, 5).join(', ') });
  if (timeout !== undefined && !isTimeout(timeout)) {
    return reason('spec_timeout');
  }
  if (description !== undefined && typeof description !== 'string')
    return reason('spec_not_text', { member: 'description' });
  if (metadata !== undefined && !isRecord(metadata)) return reason('spec_not_record', { member: 'metadata' });
  if (annotations !== undefined && !isAnnotations(annotations)) {
    return reason('spec_annotations', { names: ANNOTATIONS.join(', ') });
  }
  return null;
}

function isTimeout(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1;
}

function isAnnotations(value: unknown): value is ToolAnnotations {
  if (!isRecord(value)) return false;
  return Object.entries(value).every(
    ([key, flag]) => (ANNOTATIONS as readonly string[]).includes(key) && typeof flag === 'boolean',
  );
}

function isSchema(value: unknown): boolean {
  return typeof value === 'boolean' || isRecord(value);
}

function reject(name: string, code: string, why: Reason): DecodedSpec {
  return { ok: false, rejected: { name, code, reason: reasonText(why), reasons: [why] } };
}
