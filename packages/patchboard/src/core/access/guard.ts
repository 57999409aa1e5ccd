import type { Explanation } from '../explanation.ts';
import type { Author } from './policy/decide.ts';
import type { AgentPolicy } from './policy/document.ts';
import type { Principal } from './principal.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';

/** What was decided before a call was recorded, and by which rule. It is kept with the call. */
export interface Decision extends Explanation {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly rule: string;
  /** Which policy said so. */
  readonly policyVersion: number;
  /** What the hook that asks wants the operator to see besides. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Policy leaves it to hooks (`mode: custom`), of its author or above: the effect holds unless one of them allows it. */
  readonly opensTo?: Author;
}

export interface GuardRequest {
  readonly principal: Principal;
  readonly tool: RegisteredTool;
  readonly args: unknown;
  /** What an agent in this process allows itself and its sub-agents; it can only make it stricter. */
  readonly permissions: readonly AgentPolicy[];
}

/** Stands before every execution, whoever asks. Policy plugs in here and nowhere else. */
export interface Guard {
  /** Grows when `lists` may answer otherwise than before, so that what was made from it can be cached. */
  readonly revision: number;
  /** Calls `listener` after each change of `revision`, until the returned function is called. Absent: it never changes. */
  onChanged?(listener: (tenant: string | null) => void): () => void;
  /** May `principal` ever call this tool? Tools for which the answer is no are not listed. */
  lists(principal: Principal, tool: RegisteredTool): boolean;
  /** The same by name alone, for a tool that may be gone by now. */
  listsName(principal: Principal, toolName: string): boolean;
  /** May clients lend a tool of this name? */
  registers(tenant: string, toolName: string): boolean;
  /** A guard that throws denies. */
  admit(request: GuardRequest): Decision | Promise<Decision>;
}
