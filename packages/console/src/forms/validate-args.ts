import { reason, reasonText, type InputIssueView, type JsonSchema } from '@patchboard/wire';
import {
  compileSchema,
  extraMemberOf,
  isRecord,
  pointerTo,
  SchemaProblem,
  TRUSTED_RULES,
  type CompiledPattern,
  type SchemaRules,
} from '@patchboard/wire/json';

/** Patterns are left to the server: a pattern of an untrusted tool could block the browser. */
const ANY_TEXT: CompiledPattern = {
  ok: true,
  pattern: { test: () => true, size: 0, stepsPerChar: 0 },
};
const RULES: SchemaRules = {
  ...TRUSTED_RULES,
  compilePattern: () => ANY_TEXT,
  maxChecksInPlace: 10_000,
  maxSteps: 500_000,
};

/** Finds what the server would find, except for patterns, and before the arguments are sent. */
export function validateArgs(schema: JsonSchema, value: unknown): readonly InputIssueView[] {
  try {
    const issues = compileSchema(withoutPatternProperties(schema), RULES)(value) ?? [];
    return withoutAlternatives(issues).map(atMember);
  } catch (error) {
    // Unsupported schemas, such as those with remote references, are left to the server.
    if (error instanceof SchemaProblem) return [];
    throw error;
  }
}

/** If no alternative matches, the issues of each alternative at the same place are left out. */
function withoutAlternatives(issues: readonly InputIssueView[]): readonly InputIssueView[] {
  const unions = issues.filter((issue) => ['issue_any_of', 'issue_one_of'].includes(codeOf(issue)));
  return issues.filter(
    (issue) => codeOf(issue) !== 'issue_type' || !unions.some(({ path }) => path === issue.path),
  );
}

/** A member that is not allowed has a field of its own, which shows the issue. */
function atMember(issue: InputIssueView): InputIssueView {
  const name = extraMemberOf(issue);
  if (name === undefined) return issue;
  const why = reason('issue_not_allowed');
  return { path: pointerTo(issue.path, name), message: reasonText(why), reasons: [why] };
}

function codeOf({ reasons }: InputIssueView): string {
  return reasons?.[0]?.code ?? '';
}

/** Without the patterns it is not known which members are additional. */
function withoutPatternProperties(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatternProperties);
  if (!isRecord(schema)) return schema;
  const hasPatterns = isRecord(schema['patternProperties']);
  const kept = Object.entries(schema).filter(([keyword]) => !hasPatterns || !BY_PATTERN.has(keyword));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutPatternProperties(member)]));
}

const BY_PATTERN: ReadonlySet<string> = new Set([
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
]);
