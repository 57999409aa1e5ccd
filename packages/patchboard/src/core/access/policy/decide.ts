import { reason, type ToolAnnotations } from '@patchboard/wire';
import { explain, freeText, type Explanation } from '../../explanation.ts';
import type { AgentPolicy, Effect, PolicyDocument } from './document.ts';
import { matchesGlob } from './glob.ts';
import { holds } from './argument-condition.ts';

export interface ToolQuery {
  readonly toolName: string;
  readonly annotations: ToolAnnotations;
  readonly args: unknown;
}

export interface PolicyQuery extends ToolQuery {
  readonly agentId: string;
}

/** A rule of the policy that matches this call, in the order of evaluation. */
export interface TraceStep extends Explanation {
  /** The path of the rule in the document, such as `agents.researcher.autoDenyTools[0]`. */
  readonly rule: string;
  readonly effect: Effect;
  /** Hooks of this author, or of an author above, may override the effect. */
  readonly opensTo?: Author;
}

/** The author of a policy: `board` is the operator, `agent` the code that created the agent. */
export type Author = 'board' | 'agent';

/** Where an agent's policy comes from: the path prefix of its rules, and its author. */
export interface PolicyLocation {
  readonly path: string;
  readonly author: Author;
}

export interface PolicyVerdict extends TraceStep {
  /** Further rules that match, after the deciding one. */
  readonly alsoMatched: readonly TraceStep[];
}

/** The rule of a verdict that comes from the tool's annotations, because no policy matched. */
export const ANNOTATIONS_RULE = 'annotations';

/** The first match decides: deny list, toggles, deny rules, other rules, allow list, ask list, mode. */
export function decidePolicy(policy: PolicyDocument, question: PolicyQuery): PolicyVerdict {
  const { agent, path } = policyOf(policy, question.agentId);
  return decideFor(agent, { path, author: 'board' }, question);
}

/** As `decidePolicy`, for the policy of one agent. */
export function decideFor(agent: AgentPolicy, place: PolicyLocation, question: ToolQuery): PolicyVerdict {
  const [first, ...alsoMatched] = steps(agent, place, question);
  if (first === undefined)
    return { rule: 'none', effect: 'deny', ...explain(reason('no_rule')), alsoMatched: [] };
  return { ...first, alsoMatched };
}

/** Whether there are arguments with which the agent may call the tool. */
export function mayEverCall(policy: PolicyDocument, agentId: string, toolName: string): boolean {
  return mayEver(policyOf(policy, agentId).agent, toolName);
}

export function mayEver(agent: AgentPolicy, toolName: string): boolean {
  if (isForbidden(agent, toolName)) return false;
  if (
    agent.rules.some(
      (rule) => rule.effect === 'deny' && rule.when.length === 0 && names(rule.tools, toolName),
    )
  ) {
    return false;
  }
  const named =
    agent.rules.some((rule) => rule.effect !== 'deny' && names(rule.tools, toolName)) ||
    names(agent.autoAllowTools, toolName) ||
    names(agent.requireApprovalTools, toolName);
  return named || (agent.mode !== 'deny' && isEnabled(agent, toolName));
}

/** Whether the decision on the tool may depend on the arguments. */
export function dependsOnArguments(agent: AgentPolicy, toolName: string): boolean {
  return agent.rules.some((rule) => rule.when.length > 0 && names(rule.tools, toolName));
}

export function policyOf(policy: PolicyDocument, agentId: string): { agent: AgentPolicy; path: string } {
  const own = policy.agents.get(agentId);
  return own === undefined
    ? { agent: policy.default, path: 'default' }
    : { agent: own, path: `agents.${agentId}` };
}

function* steps(agent: AgentPolicy, place: PolicyLocation, question: ToolQuery): Generator<TraceStep> {
  const { toolName } = question;
  const { path } = place;
  yield* listed(agent.autoDenyTools, toolName, `${path}.autoDenyTools`, 'deny');
  if (toggle(agent, toolName) === false) {
    yield {
      rule: `${path}.toolToggles`,
      effect: 'deny',
      ...explain(reason('tool_switched_off', { tool: toolName })),
    };
  }
  yield* ruled(agent, question, path, (effect) => effect === 'deny');
  yield* ruled(agent, question, path, (effect) => effect !== 'deny');
  yield* listed(agent.autoAllowTools, toolName, `${path}.autoAllowTools`, 'allow');
  yield* listed(agent.requireApprovalTools, toolName, `${path}.requireApprovalTools`, 'ask');
  if (!isEnabled(agent, toolName)) {
    yield {
      rule: `${path}.defaultToolEnabled`,
      effect: 'deny',
      ...explain(reason('tool_not_switched_on', { tool: toolName })),
    };
  }
  yield byMode(agent, question, place);
}

function* listed(
  patterns: readonly string[],
  toolName: string,
  rule: string,
  effect: Effect,
): Generator<TraceStep> {
  for (const [index, pattern] of patterns.entries()) {
    if (matchesGlob(pattern, toolName))
      yield { rule: `${rule}[${index}]`, effect, ...explain(reason('pattern_matched', { pattern })) };
  }
}

function* ruled(
  agent: AgentPolicy,
  { toolName, args }: ToolQuery,
  path: string,
  wanted: (effect: Effect) => boolean,
): Generator<TraceStep> {
  for (const [index, rule] of agent.rules.entries()) {
    if (!wanted(rule.effect) || !names(rule.tools, toolName)) continue;
    if (!rule.when.every((condition) => holds(condition, args))) continue;
    const why = rule.reason === null ? explain(reason('rule_matched')) : freeText(rule.reason);
    yield { rule: `${path}.rules[${index}]`, effect: rule.effect, ...why };
  }
}

function byMode(agent: AgentPolicy, { annotations }: ToolQuery, { path, author }: PolicyLocation): TraceStep {
  const rule = `${path}.mode`;
  switch (agent.mode) {
    case 'auto':
      return { rule, effect: 'allow', ...explain(reason('policy_mode', { mode: 'auto' })) };
    case 'ask':
      return { rule, effect: 'ask', ...explain(reason('policy_mode', { mode: 'ask' })) };
    case 'deny':
      return { rule, effect: 'deny', ...explain(reason('policy_mode', { mode: 'deny' })) };
    case 'custom':
      return { rule, effect: 'ask', ...explain(reason('custom_mode_undecided')), opensTo: author };
    case null:
      return byAnnotations(annotations);
  }
}

/** No policy matched: a tool with a risk annotation needs approval, any other is allowed. */
function byAnnotations(annotations: ToolAnnotations): TraceStep {
  if (annotations.destructive === true)
    return { rule: ANNOTATIONS_RULE, effect: 'ask', ...explain(reason('tool_destructive')) };
  if (annotations.requires_approval === true) {
    return { rule: ANNOTATIONS_RULE, effect: 'ask', ...explain(reason('tool_requires_approval')) };
  }
  return { rule: ANNOTATIONS_RULE, effect: 'allow', ...explain(reason('tool_not_risky')) };
}

function isForbidden(agent: AgentPolicy, toolName: string): boolean {
  return names(agent.autoDenyTools, toolName) || toggle(agent, toolName) === false;
}

/** The part of a tool's name before its last separator; the whole name where there is none. */
export function moduleOf(toolName: string): string {
  const cut = Math.max(toolName.lastIndexOf('_'), toolName.lastIndexOf('.'));
  return cut > 0 ? toolName.slice(0, cut) : toolName;
}

/** A toggle names a tool or a tool module. */
function toggle(agent: AgentPolicy, toolName: string): boolean | undefined {
  if (Object.hasOwn(agent.toolToggles, toolName)) return agent.toolToggles[toolName];
  const module = moduleOf(toolName);
  return Object.hasOwn(agent.toolToggles, module) ? agent.toolToggles[module] : undefined;
}

function isEnabled(agent: AgentPolicy, toolName: string): boolean {
  return toggle(agent, toolName) ?? agent.defaultToolEnabled;
}

function names(patterns: readonly string[], toolName: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, toolName));
}
