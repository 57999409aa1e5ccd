import { Validator, type OutputUnit } from '@cfworker/json-schema';
import type { InputIssueView, JsonSchema } from '@patchboard/wire';

/** A validation issue; `keyword` is the schema keyword that failed. */
export interface ArgsIssue extends InputIssueView {
  readonly keyword: string;
}

/** Issues of these keywords only repeat issues inside them. */
const WRAPPERS: ReadonlySet<string> = new Set([
  'properties',
  'items',
  'prefixItems',
  'additionalProperties',
  '$ref',
  'allOf',
  'if',
  'then',
  'else',
]);

/**
 * Interpreted, because the Content-Security-Policy forbids generated code. Patterns are left to the server: a
 * pattern of an untrusted tool could block the browser.
 */
export function validateArgs(schema: JsonSchema, value: unknown): readonly ArgsIssue[] {
  let errors: OutputUnit[];
  try {
    const plain = withoutPatterns(schema) as ConstructorParameters<typeof Validator>[0];
    errors = new Validator(plain, '2020-12', false).validate(value).errors;
  } catch {
    // Unsupported schemas, such as those with remote references, are left to the server.
    return [];
  }
  const inner = errors.filter(
    ({ keyword, error }) =>
      !WRAPPERS.has(keyword) || /additional propert/i.test(error) || error.includes('False boolean'),
  );
  const issues = inner.map(({ instanceLocation, keyword, error }) => ({
    path: decodeURI(instanceLocation.replace(/^#/, '')),
    keyword,
    message: error,
  }));
  return firstPerPlace(withoutAlternatives(issues));
}

/** If no alternative matches, the issues of each alternative are left out. */
function withoutAlternatives(issues: readonly ArgsIssue[]): readonly ArgsIssue[] {
  const outer = issues.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  return issues.filter(
    (issue) =>
      outer.includes(issue) || !outer.some(({ path }) => issue.path === path && issue.keyword === 'type'),
  );
}

function firstPerPlace(issues: readonly ArgsIssue[]): readonly ArgsIssue[] {
  const seen = new Set<string>();
  return issues.filter(({ path, keyword }) => {
    const key = `${path} ${keyword}`;
    return !seen.has(key) && seen.add(key);
  });
}

function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(
        ([name, value]) => !(name === 'pattern' && typeof value === 'string') && name !== 'patternProperties',
      )
      .map(([name, value]) => [name, withoutPatterns(value)]),
  );
}
