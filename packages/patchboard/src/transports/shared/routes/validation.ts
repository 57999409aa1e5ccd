import { type InputIssueView, PEER_ID_PATTERN, reason, type Reason, reasonText } from '@patchboard/wire';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { failure, problemOf } from '../../../core/failures.ts';
import { pointerTo } from '../../../core/json/json-pointer.ts';
import { schemaCompiler } from './own-schema.ts';
import { RequestRefused } from './problem.ts';
import type { Schema } from './routes.ts';
import { SEQUENCE_PATTERN } from './schemas.ts';

const brief = schemaCompiler();
const exact = schemaCompiler({ allErrors: true });
const coercing = schemaCompiler({ allErrors: true, coerceTypes: true });
const SHOWN_ISSUES = 20;
/** In a longer body only the first error is reported: collecting all of them could take long. */
const SEARCHED_CHARACTERS = 32_768;

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
  ['^(/.*)?$', 'a JSON pointer: empty, or beginning with /'],
]);

export type PartValidator = (value: unknown) => true | { error: RequestRefused };

/** Makes the validator of a request part. Query values are coerced to the type in the schema; other parts are not changed. */
export function partValidator(schema: Schema, part: string): PartValidator {
  const isBody = part === 'body';
  const explain = (part === 'querystring' ? coercing : exact)(schema);
  const check = isBody ? brief(schema) : explain;
  const place = PLACES[part] ?? part;
  const isUrl = part === 'params' || part === 'querystring';
  const isOptional = isBody && !(Array.isArray(schema['required']) && schema['required'].length > 0);
  return (value) => {
    const zero = isUrl ? memberWithZero(value) : undefined;
    if (zero !== undefined)
      return { error: refusal(place, [{ path: pointerTo('', zero), message: 'must not contain U+0000' }]) };
    const validate = check();
    if (validate(value)) return true;
    if (isOptional && (value === undefined || value === null)) return true;
    if (!isBody || isLong(value)) return { error: refusal(place, issuesOf(validate)) };
    const explained = explain();
    explained(value);
    return { error: refusal(place, issuesOf(explained)) };
  };
}

/** No id or name has the character 0, and PostgreSQL takes it in no text. */
function memberWithZero(value: unknown): string | undefined {
  return Object.entries(value ?? {}).find(([, text]) => String(text).includes('\0'))?.[0];
}

function isLong(value: unknown): boolean {
  return (JSON.stringify(value) ?? '').length > SEARCHED_CHARACTERS;
}

function refusal(place: string, issues: readonly InputIssueView[]): RequestRefused {
  const reasons = issues
    .slice(0, 3)
    .map((issue) => reason('request_issue', { place: `${place}${issue.path}`, problem: problemOf(issue) }));
  return new RequestRefused(failure('body_invalid', reasons, { issues }));
}

function issuesOf(validate: ValidateFunction): InputIssueView[] {
  return (validate.errors ?? []).slice(0, SHOWN_ISSUES).map(issueOf);
}

function issueOf(error: ErrorObject): InputIssueView {
  const { instancePath, keyword, params, message } = error;
  if (keyword === 'required')
    return issueAt(`${instancePath}/${String(params['missingProperty'])}`, reason('argument_missing'));
  if (keyword === 'additionalProperties')
    return issueAt(
      pointerTo(instancePath, String(params['additionalProperty'])),
      reason('issue_unknown_member'),
    );
  if (keyword === 'enum' && Array.isArray(params['allowedValues']))
    return issueAt(instancePath, reason('issue_enum', { values: params['allowedValues'].join(', ') }));
  if (keyword === 'pattern') {
    const words =
      PATTERN_DESCRIPTIONS.get(String(params['pattern'])) ?? 'in the form that the route describes';
    return { path: instancePath, message: `must be ${words}` };
  }
  if (keyword === 'type' && instancePath === '') return issueAt('', reason('issue_not_object'));
  return { path: instancePath, message: message ?? 'is not valid' };
}

function issueAt(path: string, why: Reason): InputIssueView {
  return { path, message: reasonText(why), reasons: [why] };
}
