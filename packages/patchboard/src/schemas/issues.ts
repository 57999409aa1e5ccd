import type { ErrorObject } from 'ajv';
import { type InputIssueView, reason, type Reason, reasonText } from '@patchboard/wire';

export const MAX_ISSUES = 20;
const MAX_MESSAGE = 300;
const MAX_PATH = 500;

/** Keywords whose errors only summarise more specific errors; skipped when there are others. */
const SUMMARIES: ReadonlySet<string> = new Set(['if', 'propertyNames']);

/** Converts Ajv's errors to issues, without duplicates, at most 20. */
export function issuesOf(errors: readonly ErrorObject[]): readonly InputIssueView[] {
  const issues = new Map<string, InputIssueView>();
  for (const error of errors) {
    if (SUMMARIES.has(error.keyword) && errors.length > 1) continue;
    const issue = shortIssue(error.instancePath, reasonOf(error));
    issues.set(`${issue.path}\n${issue.message}`, issue);
    if (issues.size === MAX_ISSUES) break;
  }
  return [...issues.values()];
}

/** Cuts path and message: they contain keys and values of any length from the caller. */
export function shortIssue(path: string, why: Reason): InputIssueView {
  const message = reasonText(why);
  const place = path.slice(0, MAX_PATH);
  return message.length > MAX_MESSAGE
    ? { path: place, message: message.slice(0, MAX_MESSAGE) }
    : { path: place, message, reasons: [why] };
}

type Params = Readonly<Record<string, unknown>>;

/** By the compiler's keyword; one that is not here keeps the words of the compiler. */
const REASONS: Readonly<Record<string, (params: Params) => Reason>> = {
  additionalProperties: (params) => notAllowed(params['additionalProperty']),
  unevaluatedProperties: (params) => notAllowed(params['unevaluatedProperty']),
  enum: (params) => oneOf(params['allowedValues'] as readonly unknown[]),
  const: (params) => constant(params['allowedValue']),
  type: (params) => ofType([params['type']].flat().map(String)),
  propertyNames: (params) => reason('issue_property_name', { name: quoted(params['propertyName']) }),
  'false schema': () => reason('issue_not_allowed'),
  minimum: (params) => reason('issue_minimum', limitIn(params)),
  maximum: (params) => reason('issue_maximum', limitIn(params)),
  exclusiveMinimum: (params) => reason('issue_exclusive_minimum', limitIn(params)),
  exclusiveMaximum: (params) => reason('issue_exclusive_maximum', limitIn(params)),
  multipleOf: (params) => reason('issue_multiple_of', { unit: Number(params['multipleOf']) }),
  minLength: (params) => reason('issue_min_length', limitIn(params)),
  maxLength: (params) => reason('issue_max_length', limitIn(params)),
  minItems: (params) => reason('issue_min_items', limitIn(params)),
  maxItems: (params) => reason('issue_max_items', limitIn(params)),
  minProperties: (params) => reason('issue_min_properties', limitIn(params)),
  maxProperties: (params) => reason('issue_max_properties', limitIn(params)),
  uniqueItems: () => reason('issue_unique_items'),
  format: (params) => reason('issue_format', { format: String(params['format']) }),
  pattern: (params) => reason('issue_pattern', { pattern: String(params['pattern']) }),
  required: (params) => reason('issue_required', { name: String(params['missingProperty']) }),
  anyOf: () => reason('issue_any_of'),
  oneOf: () => reason('issue_one_of'),
  not: () => reason('issue_not'),
};

function reasonOf({ keyword, params, message }: ErrorObject): Reason {
  const make = Object.hasOwn(REASONS, keyword) ? REASONS[keyword] : undefined;
  return make?.(params as Params) ?? reason('text', { text: message ?? 'is not valid' });
}

function limitIn(params: Params): { limit: number } {
  return { limit: Number(params['limit']) };
}

/** A member that the schema does not allow. */
export function notAllowed(name: unknown): Reason {
  return reason('issue_additional_property', { name: quoted(name) });
}

export function ofType(types: readonly string[]): Reason {
  return reason('issue_type', { types: types.join('|') });
}

export function constant(value: unknown): Reason {
  const shown = listed([value]);
  return shown === null ? reason('issue_const_long') : reason('issue_const', { value: shown });
}

export function oneOf(values: readonly unknown[]): Reason {
  const shown = listed(values);
  return shown === null ? reason('issue_enum_long') : reason('issue_enum', { values: shown });
}

function quoted(name: unknown): string {
  return JSON.stringify(typeof name === 'string' && name.length > 100 ? `${name.slice(0, 100)}…` : name);
}

/** Lists as many of the values as fit into a message. */
export function listed(values: readonly unknown[]): string {
  let text = '';
  for (const value of values) {
    const next = JSON.stringify(value);
    if (text.length + next.length > MAX_MESSAGE - 40)
      return text === '' ? 'the value in the schema' : `${text}, …`;
    text += text === '' ? next : `, ${next}`;
  }
  return text;
}
