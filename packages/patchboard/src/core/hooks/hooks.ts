import type { ReasonView, ToolAnnotations } from '@patchboard/wire';
import type { AgentHandle } from '../agent-handle.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';

/** The call as it is passed to a hook. `args` and `input` are the same value. */
export interface HookCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  readonly input: unknown;
  readonly runId: string;
  readonly agentId: string;
  readonly tenant: string;
  /** The tool's annotations; empty if the tool was removed. */
  readonly annotations: ToolAnnotations;
  /** The tool's metadata, such as `version` and `tags`. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What a `preToolUse` hook may return. Nothing: no objection. */
export type HookDecision =
  | ({ readonly decision: 'ask'; readonly meta?: Readonly<Record<string, unknown>> } & HookReason)
  | ({ readonly decision: 'deny'; readonly toolResult?: unknown } & HookReason)
  /** For policies of mode `custom`, where a call needs the allow of a hook. */
  | { readonly decision: 'allow' }
  /** Uses this result; the tool does not run. */
  | { readonly result: unknown }
  /** Replaces the arguments; they are validated again. */
  | { readonly args: unknown }
  | void;

/** Why a hook asks or denies: as text, or as reason codes of Patchboard, which take precedence. */
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

/** `agent`: the agent in this process that made the call; undefined for calls over the network. */
export interface Hooks {
  preToolUse?(call: HookCall, agent?: AgentHandle): HookDecision | Promise<HookDecision>;
  postToolUse?(
    call: HookCall,
    result: unknown,
    agent?: AgentHandle,
  ): PostHookResult | Promise<PostHookResult>;
}

/** Creates the view of a call that hooks get. */
export function hookCall(
  call: { id: string; toolName: string; runId: string; agentId: string; tenant: string },
  tool: RegisteredTool | undefined,
  args: unknown,
): HookCall {
  const { id, toolName: name, runId, agentId, tenant } = call;
  const { annotations = {}, metadata } = tool ?? {};
  return { id, name, args, input: args, runId, agentId, tenant, annotations, metadata: metadata ?? {} };
}

/** Where hooks are defined. The board's have the most authority; a tool's cannot allow the tool's own calls. */
export type HookOwner = 'tool' | 'agent' | 'board';

export interface OwnedHooks {
  readonly owner: HookOwner;
  readonly hooks: Hooks;
}

const NONE: readonly OwnedHooks[] = [];

/** Returns the hooks of that kind in the order in which they run: the tool's own, the agent's, the board's. */
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
