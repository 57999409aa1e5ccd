import {
  nearestName,
  reason,
  type PatternMatchesView,
  type PolicyWarningCode,
  type Reason,
} from '@patchboard/wire';
import { moduleOf } from './decide.ts';
import type { AgentPolicy, PolicyDocument, PolicyRule } from './document.ts';
import { coversGlob, hasWildcard, matchesGlob } from './glob.ts';

/** A line of a policy that has no effect now. */
type PolicyWarning = Reason<PolicyWarningCode>;

export interface PolicyReview {
  readonly warnings: readonly PolicyWarning[];
  readonly matches: readonly PatternMatchesView[];
}

/** The tools and agents that a policy is reviewed against. */
export interface PolicyContext {
  /** Names of the tools that are registered. */
  readonly tools: readonly string[];
  /** The agent names of valid credentials; null: a caller may have any name. */
  readonly agents: ReadonlySet<string> | null;
}

const MAX_NAMED_TOOLS = 10;
/** Bounds the review: each pattern is compared with all tools and with all patterns before it. */
const MAX_REVIEWED_PATTERNS = 1000;

/** One pattern, in the order of evaluation. */
interface Line {
  readonly rule: string;
  readonly pattern: string;
  readonly kind: 'glob' | 'toggle' | 'mode';
  /** True: it decides every call of a matching tool, whatever the arguments. */
  readonly isFinal: boolean;
}

/**
 * Returns warnings, never errors: a policy may be written before its tools and keys exist. Reviews the first thousand
 * patterns. `pause`: called after each pattern, to yield to the event loop.
 */
export async function reviewPolicy(
  policy: PolicyDocument,
  context: PolicyContext,
  pause: () => Promise<unknown>,
): Promise<PolicyReview> {
  const tools = [...context.tools].sort();
  const warnings: PolicyWarning[] = [];
  const matches: PatternMatchesView[] = [];
  const agents = [...policy.agents].map(([id, agent]) => ({ id, agent, path: `agents.${id}` }));
  for (const { id, path } of agents.slice(0, MAX_REVIEWED_PATTERNS)) {
    if (context.agents?.has(id) === false)
      warnings.push(reason('agent_without_key', { rule: path, agent: id }));
  }
  let room = MAX_REVIEWED_PATTERNS;
  for (const { agent, path } of [...agents, { agent: policy.default, path: 'default' }]) {
    const lines = linesOf(agent, path).slice(0, room);
    room -= lines.length;
    for (const [index, line] of lines.entries()) {
      if (line.kind !== 'mode') {
        const found = matchesOf(line, tools);
        matches.push(found);
        if (found.count === 0) warnings.push(matchesNothing(line, tools));
      }
      const first = lines.slice(0, index).find((earlier) => covers(earlier, line));
      if (first !== undefined) warnings.push(shadowed(line, first));
      await pause();
    }
  }
  return { warnings, matches };
}

function linesOf(agent: AgentPolicy, path: string): Line[] {
  const globs = (patterns: readonly string[], key: string): Line[] =>
    patterns.map((pattern, index) => ({
      rule: `${path}.${key}[${index}]`,
      pattern,
      kind: 'glob',
      isFinal: true,
    }));
  const rules = agent.rules.map((rule, index) => ({ rule, path: `${path}.rules[${index}]` }));
  const toggles = Object.entries(agent.toolToggles).map(([pattern, isOn]): Line => ({
    rule: `${path}.toolToggles`,
    pattern,
    kind: 'toggle',
    // A toggle that is on does not decide: lists, rules and the mode do.
    isFinal: !isOn,
  }));
  return [
    ...globs(agent.autoDenyTools, 'autoDenyTools'),
    ...toggles,
    ...rules.filter(({ rule }) => rule.effect === 'deny').flatMap(ruleLines),
    ...rules.filter(({ rule }) => rule.effect !== 'deny').flatMap(ruleLines),
    ...globs(agent.autoAllowTools, 'autoAllowTools'),
    ...globs(agent.requireApprovalTools, 'requireApprovalTools'),
    ...(agent.mode === null
      ? []
      : [{ rule: `${path}.mode`, pattern: '*', kind: 'mode', isFinal: true } as const]),
  ];
}

function ruleLines({ rule, path }: { readonly rule: PolicyRule; readonly path: string }): Line[] {
  return rule.tools.map((pattern) => ({
    rule: path,
    pattern,
    kind: 'glob',
    isFinal: rule.when.length === 0,
  }));
}

function matchesOf({ rule, pattern, kind }: Line, tools: readonly string[]): PatternMatchesView {
  const found = tools.filter((name) =>
    kind === 'toggle' ? isToggled(pattern, name) : matchesGlob(pattern, name),
  );
  return { rule, pattern, count: found.length, tools: found.slice(0, MAX_NAMED_TOOLS) };
}

function isToggled(toggle: string, toolName: string): boolean {
  return toggle === toolName || toggle === moduleOf(toolName);
}

/** Whether the earlier line decides every call that the later one matches, including those of future tools. */
function covers(earlier: Line, later: Line): boolean {
  if (!earlier.isFinal || later.kind === 'toggle') return false;
  if (earlier.kind === 'toggle')
    return !hasWildcard(later.pattern) && isToggled(earlier.pattern, later.pattern);
  return coversGlob(earlier.pattern, later.pattern);
}

function matchesNothing({ rule, pattern, kind }: Line, tools: readonly string[]): PolicyWarning {
  const meant = nearestName(pattern, knownTo(pattern, kind, tools));
  return reason('pattern_matches_nothing', { rule, pattern, ...(meant === null ? {} : { meant }) });
}

/** The candidates for a suggestion: `databse.*` is compared with the modules. */
function knownTo(pattern: string, kind: Line['kind'], tools: readonly string[]): Iterable<string> {
  if (kind === 'toggle') return [...tools, ...new Set(tools.map(moduleOf))];
  if (!hasWildcard(pattern)) return tools;
  return new Set(tools.map((name) => `${name.slice(0, moduleOf(name).length + 1)}*`));
}

function shadowed({ rule, pattern }: Line, first: Line): PolicyWarning {
  return reason('rule_shadowed', { rule, pattern, by: first.rule, by_pattern: first.pattern });
}
