import type { Explanation } from '../explanation.ts';
import type { Author } from './policy/decide.ts';
import type { AgentPolicy } from './policy/document.ts';
import type { Principal } from './principal.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';

/** The access decision on a call and the rule it comes from. It is stored with the call. */
export interface Decision extends Explanation {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly rule: string;
  /** The version of the policy that decided. */
  readonly policyVersion: number;
  /** Data that the hook that returned `ask` adds for the operator. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Set by `mode: custom`: hooks of this author or above may allow the call. Otherwise the effect stands. */
  readonly opensTo?: Author;
}

export interface GuardRequest {
  readonly principal: Principal;
  readonly tool: RegisteredTool;
  readonly args: unknown;
  /** Permissions of an in-process agent and of the agents above it. They can only make the decision stricter. */
  readonly permissions: readonly AgentPolicy[];
}

/** Decides on every call before it runs, for every kind of caller. The only place where policy applies. */
export interface Guard {
  /** Grows when results of `lists` may have changed: a cache key for values derived from them. */
  readonly revision: number;
  /** Calls `listener` after each change of `revision`, until the returned function is called. Absent: it never changes. */
  onChanged?(listener: (tenant: string | null) => void): () => void;
  /** Whether there are arguments with which `principal` may call this tool. Lists leave out the other tools. */
  lists(principal: Principal, tool: RegisteredTool): boolean;
  /** As `lists`, by name alone, for a tool that may no longer be registered. */
  listsName(principal: Principal, toolName: string): boolean;
  /** Whether clients may register a tool of this name. */
  registers(tenant: string, toolName: string): boolean;
  /** Decides on one call. If it throws, the call is denied. */
  admit(request: GuardRequest): Decision | Promise<Decision>;
}
