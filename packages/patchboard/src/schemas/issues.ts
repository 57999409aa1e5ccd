import type { ErrorObject } from 'ajv';
import type { InputIssueView } from '@patchboard/wire';

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
    const issue = shortIssue(error.instancePath, messageOf(error));
    issues.set(`${issue.path}\n${issue.message}`, issue);
    if (issues.size === MAX_ISSUES) break;
  }
  return [...issues.values()];
}

/** Cuts path and message: they contain keys and values of any length from the caller. */
export function shortIssue(path: string, message: string): InputIssueView {
  return { path: path.slice(0, MAX_PATH), message: message.slice(0, MAX_MESSAGE) };
}

function messageOf(error: ErrorObject): string {
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case 'additionalProperties':
      return `must not have the property ${quoted(params['additionalProperty'])}`;
    case 'unevaluatedProperties':
      return `must not have the property ${quoted(params['unevaluatedProperty'])}`;
    case 'enum':
      return `must be one of ${listed(params['allowedValues'] as readonly unknown[])}`;
    case 'const':
      return `must be ${listed([params['allowedValue']])}`;
    case 'type':
      return `must be ${typeWords(params['type'])}`;
    case 'propertyNames':
      return `must not have a property named ${quoted(params['propertyName'])}`;
    case 'false schema':
      return 'is not allowed';
    default:
      return (error.message ?? 'is not valid').replace('must NOT', 'must not');
  }
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

function typeWords(type: unknown): string {
  return Array.isArray(type) ? type.join(' or ') : String(type);
}
