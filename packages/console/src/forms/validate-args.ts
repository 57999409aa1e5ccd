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
    const issues = compileSchema(withoutPatterns(schema), RULES)(value) ?? [];
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

/** Keywords that refuse a value which matches: without its patterns a schema matches too much. */
const BY_MATCH: ReadonlySet<string> = new Set(['not', 'oneOf', 'if']);
/** Without the patterns it is not known which members are additional. */
const BY_NAME_PATTERN: ReadonlySet<string> = new Set([
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
]);
/** Their values have names as keys, not keywords. */
const MAPS: ReadonlySet<string> = new Set(['properties', 'dependentSchemas', '$defs', 'definitions']);

/** Leaves out the keywords whose verdict depends on patterns. */
function withoutPatterns(document: unknown): unknown {
  const isReferenceLoose = hasKey(document, isPattern);
  const isLoose = (part: unknown): boolean =>
    hasKey(part, (key, value) => isPattern(key, value) || (key === '$ref' && isReferenceLoose));
  const rebuilt = (part: unknown, isMap: boolean): unknown => {
    if (Array.isArray(part)) return part.map((item) => rebuilt(item, false));
    if (!isRecord(part)) return part;
    const hasNamePatterns = isRecord(part['patternProperties']);
    const isLeftOut = (keyword: string, value: unknown): boolean =>
      (hasNamePatterns && BY_NAME_PATTERN.has(keyword)) ||
      (BY_MATCH.has(keyword) && isLoose(value)) ||
      (keyword === 'maxContains' && isLoose(part['contains'])) ||
      (keyword.startsWith('unevaluated') && isLoose(part));
    const kept = Object.entries(part).filter(([keyword, value]) => isMap || !isLeftOut(keyword, value));
    return Object.fromEntries(
      kept.map(([key, value]) => [key, rebuilt(value, !isMap && MAPS.has(key))] as const),
    );
  };
  return rebuilt(document, false);
}

function isPattern(key: string, value: unknown): boolean {
  return (key === 'pattern' && typeof value === 'string') || (key === 'patternProperties' && isRecord(value));
}

/** Whether an object in the value has such a member. */
function hasKey(value: unknown, isWanted: (key: string, member: unknown) => boolean): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, member]) => isWanted(key, member) || hasKey(member, isWanted));
}
