import { Validator, type OutputUnit } from '@cfworker/json-schema';
import type { InputIssueView, JsonSchema } from '@patchboard/wire';

/** What is wrong with a value; `keyword` is the schema's word for it. */
export interface ArgsIssue extends InputIssueView {
  readonly keyword: string;
}

/** These only say that something inside them failed, which is in the list too. */
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
 * Interpreted, because the policy of the page allows no generated code. Patterns are left to the server: those of a
 * stranger's tool could keep this browser busy for ever.
 */
export function validateArgs(schema: JsonSchema, value: unknown): readonly ArgsIssue[] {
  let errors: OutputUnit[];
  try {
    const plain = withoutPatterns(schema) as ConstructorParameters<typeof Validator>[0];
    errors = new Validator(plain, '2020-12', false).validate(value).errors;
  } catch {
    // A schema this validator cannot follow, such as one with a reference to elsewhere: the server knows better.
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

/** Where no alternative fits, what is wrong with each of them would only confuse. */
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
