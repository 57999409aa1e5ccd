import type { ReasonView, ToolAnnotations } from '@patchboard/wire';
import type { AgentHandle } from '../agent-handle.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';

/** The call as a hook sees it. `args` and `input` are one value under the two names in use. */
export interface HookCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  readonly input: unknown;
  readonly runId: string;
  readonly agentId: string;
  readonly tenant: string;
  /** What the tool says of its risk; empty when the tool is gone. */
  readonly annotations: ToolAnnotations;
  /** What else it says of itself, such as `version` and `tags`. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What a hook may say before a tool runs. Nothing: go on. */
export type HookDecision =
  | ({ readonly decision: 'ask'; readonly meta?: Readonly<Record<string, unknown>> } & HookReason)
  | ({ readonly decision: 'deny'; readonly toolResult?: unknown } & HookReason)
  /** For policies of mode `custom`, where nothing is allowed unless a hook says so. */
  | { readonly decision: 'allow' }
  /** This is the result; the tool is not run. */
  | { readonly result: unknown }
  /** Go on with these arguments; they are validated again. */
  | { readonly args: unknown }
  | void;

/** Why a hook asks or denies: in words of its own, or in codes that Patchboard has sentences for, which go first. */
export interface HookReason {
  readonly reason?: string;
  readonly reasons?: readonly ReasonView[];
}

/** A tool's result as a `postToolUse` hook returns it: any JSON value. */
export interface ToolOutcome {
  readonly content: unknown;
}

/** What a hook may return after a tool ran. Nothing: keep the result. Any other form fails the call. */
export type PostHookResult =
  /** Merged into an object result, in place of any other. `content` is another name for `result`. */
  { readonly update: { readonly result: unknown } | ToolOutcome } | { readonly replace: ToolOutcome } | void;

/** `agent` is whoever embeds the engine and asks; undefined over the network. */
export interface Hooks {
  preToolUse?(call: HookCall, agent?: AgentHandle): HookDecision | Promise<HookDecision>;
  postToolUse?(
    call: HookCall,
    result: unknown,
    agent?: AgentHandle,
  ): PostHookResult | Promise<PostHookResult>;
}

/** Both names for the arguments hold one value. */
export function hookCall(
  call: { id: string; toolName: string; runId: string; agentId: string; tenant: string },
  tool: RegisteredTool | undefined,
  args: unknown,
): HookCall {
  const { id, toolName: name, runId, agentId, tenant } = call;
  const { annotations = {}, metadata } = tool ?? {};
  return { id, name, args, input: args, runId, agentId, tenant, annotations, metadata: metadata ?? {} };
}

/** Whose hooks they are. Those of the board stand above all others; a tool decides nothing about itself. */
export type HookOwner = 'tool' | 'agent' | 'board';

export interface OwnedHooks {
  readonly owner: HookOwner;
  readonly hooks: Hooks;
}

const NONE: readonly OwnedHooks[] = [];

/** Those that have such a hook, in the order in which they are asked: the tool's own, the agent's, the board's. */
export function hooksOf(
  kind: 'preToolUse' | 'postToolUse',
  tool: RegisteredTool | undefined,
  agent: readonly Hooks[],
  board: readonly Hooks[],
): readonly OwnedHooks[] {
  const own = tool?.hooks ?? null;
  if (own === null && agent.length === 0 && board.length === 0) return NONE;
  const owned = (owner: HookOwner, given: readonly Hooks[]): OwnedHooks[] =>
    given.filter((hooks) => hooks[kind] !== undefined).map((hooks) => ({ owner, hooks }));
  return [...owned('tool', own === null ? [] : [own]), ...owned('agent', agent), ...owned('board', board)];
}
