import type { PatternMatchesView } from '@patchboard/wire';

/** One line of a policy, in evaluation order. */
export interface PolicyLine {
  /** Its location in the document. */
  readonly rule: string;
  readonly agent: string;
  readonly tools: string;
  readonly effect: string;
  readonly when: string;
  readonly reason: string;
}

type Part = Readonly<Record<string, unknown>>;

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The lines of every agent in evaluation order: deny lists, rules, allow list, approval list, mode. */
export function policyLines(document: Part): readonly PolicyLine[] {
  const agents = isPart(document['agents']) ? document['agents'] : {};
  const named = Object.entries(agents).flatMap(([id, agent]) => agentLines(id, `agents.${id}`, agent));
  return [...named, ...agentLines('*', 'default', document['default'])];
}

/**
 * The tools that the patterns of a line match. Lists and toggles have one line per pattern; a rule is one
 * line for all its patterns.
 */
export function matchesOfLine(
  { rule, tools }: PolicyLine,
  matches: readonly PatternMatchesView[],
): readonly PatternMatchesView[] {
  const own = matches.filter((match) => match.rule === rule);
  const named = own.filter(({ pattern }) => pattern === tools);
  return named.length > 0 ? named : own;
}

function agentLines(agent: string, path: string, given: unknown): readonly PolicyLine[] {
  const part = isPart(given) ? given : {};
  const named = (key: string, effect: string): PolicyLine[] =>
    listOf(part[key]).map((pattern, index) => ({
      rule: `${path}.${key}[${index}]`,
      agent,
      tools: String(pattern),
      effect,
      when: '',
      reason: '',
    }));
  const rules = listOf(part['rules']).map((rule, index) => ruleLine(agent, `${path}.rules[${index}]`, rule));
  const { mode } = part;
  const last = typeof mode === 'string' ? modeLine(agent, path, mode) : [];
  return [
    ...named('autoDenyTools', 'deny'),
    ...toggleLines(agent, path, part['toolToggles']),
    ...rules.filter(({ effect }) => effect === 'deny'),
    ...rules.filter(({ effect }) => effect !== 'deny'),
    ...named('autoAllowTools', 'allow'),
    ...named('requireApprovalTools', 'ask'),
    ...last,
  ];
}

function ruleLine(agent: string, rule: string, given: unknown): PolicyLine {
  const part = isPart(given) ? given : {};
  const tools = Array.isArray(part['tools']) ? part['tools'].join(', ') : textOf(part['tools']);
  return {
    rule,
    agent,
    tools,
    effect: textOf(part['effect']),
    when: listOf(part['when'])
      .map((one) => JSON.stringify(one))
      .join(' '),
    reason: textOf(part['reason']),
  };
}

function toggleLines(agent: string, path: string, given: unknown): PolicyLine[] {
  if (!isPart(given)) return [];
  const off = Object.entries(given).filter(([, isOn]) => isOn === false);
  return off.map(([tools]) => ({
    rule: `${path}.toolToggles`,
    agent,
    tools,
    effect: 'deny',
    when: '',
    reason: '',
  }));
}

function modeLine(agent: string, path: string, mode: string): PolicyLine[] {
  const effects: Readonly<Record<string, string>> = {
    auto: 'allow',
    ask: 'ask',
    deny: 'deny',
    custom: 'ask',
  };
  const effect = effects[mode] ?? mode;
  return [{ rule: `${path}.mode`, agent, tools: '*', effect, when: '', reason: `mode: ${mode}` }];
}
