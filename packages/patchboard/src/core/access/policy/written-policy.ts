import type { Effect, PolicyMode } from './document.ts';
import type { Predicate } from './predicate.ts';

/** A policy document as it is written: in a config file, in `PUT /v1/policy` and in the options of a board. */
export interface WrittenPolicy {
  /** For every agent that has no entry of its own. */
  readonly default?: WrittenPermission;
  /** By agent id. */
  readonly agents?: Readonly<Record<string, WrittenPermission>>;
  readonly devices?: {
    /** Patterns of the names under which clients may register tools. Default: any free name. */
    readonly registerable?: readonly string[];
  };
}

/** What one agent may do. Patterns are globs over tool names. What is left out has no effect. */
export interface WrittenPermission {
  /** Default: what a tool says of itself decides; one that is destructive or requires approval asks. */
  readonly mode?: PolicyMode | null;
  readonly autoAllowTools?: readonly string[];
  readonly requireApprovalTools?: readonly string[];
  readonly autoDenyTools?: readonly string[];
  readonly rules?: readonly WrittenRule[];
  /** A chat app's switches: false forbids a tool, true takes it out of `defaultToolEnabled`. */
  readonly toolToggles?: Readonly<Record<string, boolean>>;
  /** False: a tool that no toggle, list or rule names is forbidden. Default true. */
  readonly defaultToolEnabled?: boolean;
}

/** A rule that looks at the arguments. */
export interface WrittenRule {
  /** A pattern, or several. */
  readonly tools: string | readonly string[];
  readonly effect: Effect;
  /** All of them must hold. Default: the rule always applies. */
  readonly when?: readonly Predicate[];
  readonly reason?: string | null;
}
