import type { Effect, PolicyMode } from './document.ts';
import type { ArgumentCondition } from './argument-condition.ts';

/** A policy document as written in a config file, in `PUT /v1/policy` and in the options of a board. */
export interface WrittenPolicy {
  /** Permissions of every agent that has no entry of its own. */
  readonly default?: WrittenPermission;
  /** Permissions by agent id. */
  readonly agents?: Readonly<Record<string, WrittenPermission>>;
  readonly devices?: {
    /** Patterns of the names under which clients may register tools. Default: any free name. */
    readonly registerable?: readonly string[];
  };
}

/** The permissions of one agent. Patterns are globs over tool names. Every member is optional. */
export interface WrittenPermission {
  /** Default: the tool's annotations decide; a tool that is destructive or requires approval asks. */
  readonly mode?: PolicyMode | null;
  readonly autoAllowTools?: readonly string[];
  readonly requireApprovalTools?: readonly string[];
  readonly autoDenyTools?: readonly string[];
  readonly rules?: readonly WrittenRule[];
  /** By tool or module: false denies the tool, true exempts it from `defaultToolEnabled`. */
  readonly toolToggles?: Readonly<Record<string, boolean>>;
  /** False: a tool that no toggle, list or rule names is denied. Default true. */
  readonly defaultToolEnabled?: boolean;
}

/** A rule that may depend on the arguments. */
export interface WrittenRule {
  /** A pattern, or several. */
  readonly tools: string | readonly string[];
  readonly effect: Effect;
  /** All conditions must hold. Default: the rule always applies. */
  readonly when?: readonly ArgumentCondition[];
  readonly reason?: string | null;
}
