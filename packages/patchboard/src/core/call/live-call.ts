import type { AgentHandle } from '../agent-handle.ts';
import type { Call } from './call.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { AgentPolicy } from '../access/policy/document.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import { Stop } from './stop.ts';

/** An agent in this process: it brings hooks of its own, and they and the tools are told who they serve. */
export interface InProcessCaller {
  readonly hooks: readonly Hooks[];
  readonly agent: AgentHandle | undefined;
  /** What it asks for and cannot have is recorded as a call that failed; otherwise only the ledger says so. */
  readonly keepsRefused?: true;
  /** Its own and those of the agents above it. Default: none. */
  readonly permissions?: readonly AgentPolicy[];
  /** Told of what the tool emits while the call is under way. */
  onCustomEvent?(event: ToolCustomEvent): void;
}

/** What a tool said with `context.emit`. */
export interface ToolCustomEvent {
  readonly callId: string;
  readonly toolName: string;
  readonly runId: string;
  readonly eventType: string;
  /** As JSON holds it, redacted. */
  readonly data: unknown;
  /** Epoch milliseconds. */
  readonly at: number;
}

export const REMOTE_CALLER: InProcessCaller = { hooks: [], agent: undefined };

/** What this process holds of a call that has not ended. */
export interface LiveCall {
  /** The last committed version. */
  call: Call;
  readonly stop: Stop;
  /** Calls off the deadline that is armed. */
  disarm: () => void;
  /** Gives back the slot it holds, or leaves the line it stands in. */
  release: () => void;
  /** Of the agent that asks, if it runs in this process; a restart forgets them. */
  caller: InProcessCaller;
  /** A client may have seen it: it can no longer be said that it certainly did not start. */
  pushed: boolean;
  /** The tool the call was made with, also after it left the registry. Undefined after a restart until it is found. */
  tool: RegisteredTool | undefined;
}

export function liveCall(call: Call, caller: InProcessCaller, tool: RegisteredTool | undefined): LiveCall {
  return {
    call,
    stop: new Stop(),
    disarm: nothing,
    release: nothing,
    caller,
    pushed: false,
    tool,
  };
}

/** False also where the tool is not known any more: its call must not be repeated. */
export function isIdempotent({ tool }: LiveCall): boolean {
  return tool?.annotations.idempotent === true;
}

export function nothing(): void {
  // Nothing is armed or held.
}
