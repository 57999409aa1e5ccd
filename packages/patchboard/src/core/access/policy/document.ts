import { reason as reasonOf, reasonText, type InputIssueView, type Reason } from '@patchboard/wire';
import { pointerTo, isRecord } from '@patchboard/wire/json';
import {
  COMPARISON_NAMES,
  COMPARISONS,
  COMPARISONS_TEXT,
  type ArgumentCondition,
} from './argument-condition.ts';

export const POLICY_MODES = ['auto', 'ask', 'deny', 'custom'] as const;

export type PolicyMode = (typeof POLICY_MODES)[number];
export type Effect = 'allow' | 'ask' | 'deny';

/** A rule that may depend on the arguments. */
export interface PolicyRule {
  readonly tools: readonly string[];
  readonly effect: Effect;
  readonly when: readonly ArgumentCondition[];
  readonly reason: string | null;
}

/** The permissions of one agent. Patterns are globs over tool names. */
export interface AgentPolicy {
  /** Null: the tool's annotations decide (`destructive` or `requires_approval`: ask). */
  readonly mode: PolicyMode | null;
  readonly autoAllowTools: readonly string[];
  readonly requireApprovalTools: readonly string[];
  readonly autoDenyTools: readonly string[];
  readonly rules: readonly PolicyRule[];
  /** By tool or module: false denies the tool, true exempts it from `defaultToolEnabled`. */
  readonly toolToggles: Readonly<Record<string, boolean>>;
  /** False: a tool that no toggle, list or rule names is denied. */
  readonly defaultToolEnabled: boolean;
}

export interface PolicyDocument {
  readonly default: AgentPolicy;
  readonly agents: ReadonlyMap<string, AgentPolicy>;
  /** Patterns of the names under which clients may register tools; null: any free name. */
  readonly registerable: readonly string[] | null;
}

export const EMPTY_AGENT_POLICY: AgentPolicy = {
  mode: null,
  autoAllowTools: [],
  requireApprovalTools: [],
  autoDenyTools: [],
  rules: [],
  toolToggles: {},
  defaultToolEnabled: true,
};

export const EMPTY_POLICY: PolicyDocument = {
  default: EMPTY_AGENT_POLICY,
  agents: new Map(),
  registerable: null,
};

export type DecodedPolicy =
  | { readonly ok: true; readonly policy: PolicyDocument }
  | { readonly ok: false; readonly problems: readonly InputIssueView[] };

/** Rejects unknown keys, modes and effects: a policy that is not fully understood is not used. */
export function decodePolicy(value: unknown): DecodedPolicy {
  return decode(value, Infinity);
}

/** Upper bound on the characters of a pattern that an operator sends: well above the longest tool name. */
export const PATTERN_CHARACTERS = 500;

/** As `decodePolicy`, with bounded patterns, for a policy sent over the network: patterns are matched for every call. */
export function decodeSentPolicy(value: unknown): DecodedPolicy {
  return decode(value, PATTERN_CHARACTERS);
}

function decode(value: unknown, patternCharacters: number): DecodedPolicy {
  const decoder = new PolicyDecoder(patternCharacters);
  const policy = decoder.document(value);
  return decoder.problems.length === 0 ? { ok: true, policy } : { ok: false, problems: decoder.problems };
}

const AGENT_KEYS: readonly string[] = Object.keys(EMPTY_AGENT_POLICY);
const CONDITION_KEYS: readonly string[] = ['arg', ...COMPARISON_NAMES];

class PolicyDecoder {
  readonly problems: InputIssueView[] = [];
  readonly #patternCharacters: number;

  constructor(patternCharacters: number) {
    this.#patternCharacters = patternCharacters;
  }

  document(value: unknown): PolicyDocument {
    const given = this.#record(value, '', ['default', 'agents', 'devices']);
    const agents = new Map<string, AgentPolicy>();
    for (const [id, agent] of Object.entries(this.#record(given['agents'] ?? {}, '/agents', null))) {
      agents.set(id, this.#agent(agent, pointerTo('/agents', id)));
    }
    const devices = this.#record(given['devices'] ?? {}, '/devices', ['registerable']);
    return {
      default: this.#agent(given['default'] ?? {}, '/default'),
      agents,
      registerable:
        devices['registerable'] === undefined
          ? null
          : this.#strings(devices['registerable'], '/devices/registerable'),
    };
  }

  #agent(value: unknown, path: string): AgentPolicy {
    const given = this.#record(value, path, AGENT_KEYS);
    const mode = given['mode'] ?? null;
    if (mode !== null && !(POLICY_MODES as readonly unknown[]).includes(mode)) {
      this.#problem(`${path}/mode`, reasonOf('issue_enum', { values: POLICY_MODES.join(', ') }));
    }
    const rules = given['rules'] ?? [];
    if (!Array.isArray(rules)) this.#problem(`${path}/rules`, reasonOf('must_be_list'));
    const toggles = this.#record(given['toolToggles'] ?? {}, `${path}/toolToggles`, null);
    for (const [id, on] of Object.entries(toggles)) {
      if (typeof on !== 'boolean')
        this.#problem(pointerTo(`${path}/toolToggles`, id), reasonOf('must_be_boolean'));
    }
    const enabled = given['defaultToolEnabled'] ?? true;
    if (typeof enabled !== 'boolean')
      this.#problem(`${path}/defaultToolEnabled`, reasonOf('must_be_boolean'));
    return {
      mode: mode as PolicyMode | null,
      autoAllowTools: this.#strings(given['autoAllowTools'] ?? [], `${path}/autoAllowTools`),
      requireApprovalTools: this.#strings(
        given['requireApprovalTools'] ?? [],
        `${path}/requireApprovalTools`,
      ),
      autoDenyTools: this.#strings(given['autoDenyTools'] ?? [], `${path}/autoDenyTools`),
      rules: Array.isArray(rules)
        ? rules.map((rule, index) => this.#rule(rule, `${path}/rules/${index}`))
        : [],
      toolToggles: toggles as Record<string, boolean>,
      defaultToolEnabled: enabled === true,
    };
  }

  #rule(value: unknown, path: string): PolicyRule {
    const given = this.#record(value, path, ['tools', 'effect', 'when', 'reason']);
    const { effect, when = [], reason = null } = given;
    if (effect !== 'allow' && effect !== 'ask' && effect !== 'deny') {
      this.#problem(`${path}/effect`, reasonOf('policy_effect_unknown'));
    }
    if (reason !== null && typeof reason !== 'string')
      this.#problem(`${path}/reason`, reasonOf('must_be_text'));
    if (!Array.isArray(when)) this.#problem(`${path}/when`, reasonOf('policy_conditions_not_list'));
    const tools = typeof given['tools'] === 'string' ? [given['tools']] : given['tools'];
    return {
      tools: this.#strings(tools, `${path}/tools`),
      effect: effect as Effect,
      when: Array.isArray(when)
        ? when.map((one, index) => this.#condition(one, `${path}/when/${index}`))
        : [],
      reason: reason as string | null,
    };
  }

  #condition(value: unknown, path: string): ArgumentCondition {
    const given = this.#record(value, path, CONDITION_KEYS);
    const arg = given['arg'];
    if (typeof arg !== 'string' || (arg !== '' && !arg.startsWith('/'))) {
      this.#problem(`${path}/arg`, reasonOf('policy_pointer_malformed'));
    }
    for (const name of COMPARISON_NAMES) {
      if (name in given) this.#operand(COMPARISONS[name].takes, given[name], `${path}/${name}`);
    }
    if (Object.keys(given).length < 2)
      this.#problem(path, reasonOf('policy_condition_without_test', { tests: COMPARISONS_TEXT }));
    return given as unknown as ArgumentCondition;
  }

  #operand(takes: 'any value' | 'text' | 'pattern' | 'number', value: unknown, path: string): void {
    if (takes === 'number' && typeof value !== 'number') this.#problem(path, reasonOf('must_be_number'));
    if ((takes === 'text' || takes === 'pattern') && typeof value !== 'string')
      this.#problem(path, reasonOf('must_be_text'));
    if (takes === 'pattern') this.#boundPattern(value, path);
  }

  #record(value: unknown, path: string, keys: readonly string[] | null): Record<string, unknown> {
    if (!isRecord(value)) {
      this.#problem(path, reasonOf('must_be_object'));
      return {};
    }
    for (const key of Object.keys(value)) {
      if (keys !== null && !keys.includes(key)) {
        this.#problem(pointerTo(path, key), reasonOf('member_unknown', { known: keys.join(', ') }));
      }
    }
    return value as Record<string, unknown>;
  }

  #strings(value: unknown, path: string): readonly string[] {
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
      for (const [index, item] of value.entries()) this.#boundPattern(item, `${path}/${index}`);
      return value as string[];
    }
    this.#problem(path, reasonOf('must_be_texts'));
    return [];
  }

  #boundPattern(pattern: unknown, path: string): void {
    const most = this.#patternCharacters;
    if (typeof pattern === 'string' && pattern.length > most)
      this.#problem(path, reasonOf('policy_pattern_too_long', { length: pattern.length, most }));
  }

  #problem(path: string, why: Reason): void {
    this.problems.push({ path, message: reasonText(why), reasons: [why] });
  }
}
