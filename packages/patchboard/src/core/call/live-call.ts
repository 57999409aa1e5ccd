import type { AgentHandle } from '../agent-handle.ts';
import { isOpen, type Call } from './call.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { AgentPolicy } from '../access/policy/document.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import { Stop } from './stop.ts';

/** An agent in this process that submits a call: its hooks, and the handle that hooks and tools receive. */
export interface InProcessCaller {
  readonly hooks: readonly Hooks[];
  readonly agent: AgentHandle | undefined;
  /** Records a refused request as a FAILED call; without it only a ledger row records the refusal. */
  readonly keepsRefused?: true;
  /** The policies of this agent and of the agents that started it. Default: none. */
  readonly permissions?: readonly AgentPolicy[];
  /** Called when the tool asks for input, once the request is durable. */
  onInputRequired?(call: Call): void;
  /** Called with each event that the tool emits while the call is open. */
  onCustomEvent?(event: ToolCustomEvent): void;
  /** Called with the redacted data of each progress report while the call is open. */
  onProgress?(data: unknown): void;
}

/** An event that a tool emitted with `context.emit`. */
export interface ToolCustomEvent {
  readonly callId: string;
  readonly toolName: string;
  readonly runId: string;
  readonly eventType: string;
  /** A JSON copy of the data, redacted. */
  readonly data: unknown;
  /** Epoch milliseconds. */
  readonly at: number;
}

export const REMOTE_CALLER: InProcessCaller = { hooks: [], agent: undefined };

/**
 * `own`: this node manages the call. `adopted`: as `own`, but another node held the call before and may have callers that
 * wait for it. `borrowed`: another node manages the call, and this object was read from the store to make one move, which
 * makes it `adopted` if it leaves the call open. `lost`: another node has moved the call; nothing is done with this object
 * any more.
 */
export type Ownership = 'own' | 'adopted' | 'borrowed' | 'lost';

/** The in-memory state of an open call in this process. */
export interface LiveCall {
  /** The last committed version. */
  call: Call;
  readonly stop: Stop;
  /** Cancels the timer of the deadline. */
  disarm: () => void;
  /** Releases the slot that the call holds, or leaves the queue for one. */
  release: () => void;
  /** The submitting agent, if it runs in this process. A restart loses it. */
  caller: InProcessCaller;
  /** A client may have received the call, so its outcome is no longer certainly `not_started`. */
  pushed: boolean;
  /** Number of ends that are being committed. The call is not delivered meanwhile: they record whether it was. */
  ending: number;
  /**
   * The tool the call was submitted with, even after its removal from the tool index. After a restart undefined until it
   * is found.
   */
  tool: RegisteredTool | undefined;
  ownership: Ownership;
}

export function liveCall(
  call: Call,
  caller: InProcessCaller,
  tool: RegisteredTool | undefined,
  ownership: Ownership,
): LiveCall {
  return {
    call,
    stop: new Stop(),
    disarm: nothing,
    release: nothing,
    caller,
    pushed: false,
    ending: 0,
    tool,
    ownership,
  };
}

/** Whether this node manages the call, and it is open. */
export function isOurs({ call, ownership }: LiveCall): boolean {
  return ownership !== 'lost' && isOpen(call);
}

/** Whether the call needs an agent of this process: its hooks, permissions or handle. */
export function isPinned({ hooks, agent, permissions = [] }: InProcessCaller): boolean {
  return agent !== undefined || hooks.length > 0 || permissions.length > 0;
}

/** Whether another node must move the call on, because the call needs an agent of that process. */
export function isPinnedElsewhere({ call, ownership }: LiveCall): boolean {
  return call.pinned === true && ownership === 'borrowed';
}

/** False also if the tool is no longer known: its call must not be repeated. */
export function isIdempotent({ tool }: LiveCall): boolean {
  return tool?.annotations.idempotent === true;
}

export function nothing(): void {
  // No timer to cancel, no slot to release.
}
