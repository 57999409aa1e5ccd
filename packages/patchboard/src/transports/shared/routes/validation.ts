import { type InputIssueView, PEER_ID_PATTERN, reason, type Reason, reasonText } from '@patchboard/wire';
import { extraMemberOf, isRecord, pointerTo } from '@patchboard/wire/json';
import { failure, problemOf } from '../../../core/failures.ts';
import { CHECKPOINT_FORM, CHECKPOINT_PATTERN } from '../../../core/ledger/checkpoint.ts';
import { ownValidator } from './own-schema.ts';
import { RequestRefused } from './problem.ts';
import type { Schema } from './routes.ts';
import { SEQUENCE_PATTERN } from './schemas.ts';

/** Fastify's name for each part of a request, and the name used in messages. */
const PLACES: Readonly<Record<string, string>> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'header',
};

/** Descriptions of the patterns in route schemas. */
const PATTERN_DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  [PEER_ID_PATTERN.source, '1 to 200 visible ASCII characters without spaces'],
  [SEQUENCE_PATTERN.source, 'a number of 1 to 15 digits'],
  [CHECKPOINT_PATTERN.source, CHECKPOINT_FORM],
  ['^(/.*)?$', 'a JSON pointer: empty, or beginning with /'],
]);

export type PartValidator = (value: unknown) => true | { error: RequestRefused };

/** Makes the validator of a request part. Query values are converted to the type in the schema; other parts are not changed. */
export function partValidator(schema: Schema, part: string): PartValidator {
  const validate = ownValidator(schema);
  const place = PLACES[part] ?? part;
  const isUrl = part === 'params' || part === 'querystring';
  const isOptional = part === 'body' && !(Array.isArray(schema['required']) && schema['required'].length > 0);
  return (value) => {
    const zero = isUrl ? memberWithZero(value) : undefined;
    if (zero !== undefined)
      return { error: refusal(place, [{ path: pointerTo('', zero), message: 'must not contain U+0000' }]) };
    if (part === 'querystring') convertTexts(schema, value);
    const issues = validate(value);
    if (issues === null) return true;
    if (isOptional && (value === undefined || value === null)) return true;
    return { error: refusal(place, issues.map(requestIssue)) };
  };
}

/** Converts the texts of a query to numbers and booleans where the schema has these types. */
function convertTexts({ properties }: Schema, query: unknown): void {
  if (!isRecord(properties) || !isRecord(query)) return;
  for (const [name, text] of Object.entries(query)) {
    const member = properties[name];
    if (typeof text === 'string' && isRecord(member)) query[name] = converted(text, member['type']);
  }
}

/** A text that is none of the type is returned unchanged, and refused by the validator. */
function converted(text: string, type: unknown): unknown {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  const isNumber = type === 'integer' || type === 'number';
  return isNumber && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** No id or name has the character 0, and PostgreSQL takes it in no text. */
function memberWithZero(value: unknown): string | undefined {
  return Object.entries(value ?? {}).find(([, text]) => String(text).includes('\0'))?.[0];
}

function refusal(place: string, issues: readonly InputIssueView[]): RequestRefused {
  const reasons = issues
    .slice(0, 3)
    .map((issue) => reason('request_issue', { place: `${place}${issue.path}`, problem: problemOf(issue) }));
  return new RequestRefused(failure('body_invalid', reasons, { issues }));
}

/** Names the member itself in the path, and describes patterns in words. */
function requestIssue(issue: InputIssueView): InputIssueView {
  const { path, reasons: [why] = [] } = issue;
  const extra = extraMemberOf(issue);
  if (extra !== undefined) return issueAt(pointerTo(path, extra), reason('issue_unknown_member'));
  const { name, pattern } = why?.params ?? {};
  if (why?.code === 'issue_required' && typeof name === 'string')
    return issueAt(pointerTo(path, name), reason('argument_missing'));
  if (why?.code === 'issue_pattern' && typeof pattern === 'string') {
    const words = PATTERN_DESCRIPTIONS.get(pattern) ?? 'in the form that the route describes';
    return { path, message: `must be ${words}` };
  }
  if (why?.code === 'issue_type' && path === '') return issueAt('', reason('issue_not_object'));
  return issue;
}

function issueAt(path: string, why: Reason): InputIssueView {
  return { path, message: reasonText(why), reasons: [why] };
}
