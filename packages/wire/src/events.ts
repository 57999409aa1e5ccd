import type { CallStateName, CallStatus } from './call-state.ts';
import type { FailureCode } from './failure-codes.ts';
import type { UpstreamStateName } from './upstreams.ts';
import type { InputAction } from './views.ts';

/** Names of the server-sent events. */
export const EVENT_TYPES = [
  'call.state',
  'call.progress',
  'tool_custom_event',
  'permission_required',
  'permission_decided',
  'input_required',
  'input_given',
  'registry.changed',
  'device.changed',
  'upstream.changed',
  'resources.changed',
  'prompts.changed',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

export interface CallStateEvent {
  readonly tool_call_id: string;
  readonly run_id: string;
  readonly tool_name: string;
  readonly agent_id: string;
  readonly state: CallStateName;
  readonly status: CallStatus;
  readonly at: string;
  readonly attempt?: number;
  readonly code?: FailureCode;
  /** Only in the first event of a call that a sub-agent made: the call that it works for. */
  readonly parent_call_id?: string;
}

/** A running tool needs input from the caller. The message and the schema are in the call's record. */
export interface InputRequiredEvent {
  readonly tool_call_id: string;
  readonly run_id: string;
  readonly tool_name: string;
  readonly agent_id: string;
  readonly at: string;
  readonly input_request_id: string;
  /** SHA-256 hash of the message, the schema and the link. */
  readonly request_sha256: string;
  readonly expires_at: string;
}

/** The caller responded to an input request. */
export interface InputGivenEvent {
  readonly tool_call_id: string;
  readonly run_id: string;
  readonly tool_name: string;
  readonly agent_id: string;
  readonly at: string;
  readonly input_request_id: string;
  readonly action: InputAction;
  /** SHA-256 hash of the content; absent if the caller declined. */
  readonly content_sha256?: string;
}

export interface CallProgressEvent {
  readonly tool_call_id: string;
  readonly at: string;
  readonly data: unknown;
}

/** An event that a tool emits under its own event name. It is not replayed. */
export interface ToolCustomEvent {
  readonly tool_call_id: string;
  readonly at: string;
  readonly event_type: string;
  readonly data: unknown;
}

export interface RegistryChangedEvent {
  readonly at: string;
  /** Absent for server tools. */
  readonly client_id?: string;
  readonly registered?: readonly string[];
  readonly removed?: readonly string[];
  /** Those registered tools whose contract changed. Earlier approvals and grants do not apply to the new contract. */
  readonly changed?: readonly string[];
  /** Tools that were registered as less risky than before; the server keeps the earlier, higher risk. */
  readonly kept_risk?: readonly string[];
  /** Tools whose risk was lowered by the operator in `by`. */
  readonly lowered_risk?: readonly string[];
  /** Tool names whose recorded risk was deleted by the operator in `by`. */
  readonly forgotten_risk?: readonly string[];
  readonly by?: string;
}

export interface DeviceChangedEvent {
  readonly at: string;
  readonly client_id: string;
  readonly name: string;
  readonly session: string;
  /** `away`: disconnected, its calls wait for it to reconnect. `gone`: the grace period is over. */
  readonly state: 'online' | 'away' | 'gone';
}

/** The state of an upstream changed, or an operator accepted its contracts. It is not replayed. */
export interface UpstreamChangedEvent {
  readonly at: string;
  readonly upstream: string;
  readonly state: UpstreamStateName;
}

/**
 * The list of resources changed, or the contents of some. Contains only what the reader may see, and is not replayed. Without
 * a list of names the reader should list again.
 */
export interface ResourcesChangedEvent {
  readonly at: string;
  /** URIs of resources, and URI templates. */
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  /** URIs whose contents changed. */
  readonly updated?: readonly string[];
}

/** The same for prompts, by name. */
export interface PromptsChangedEvent {
  readonly at: string;
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
}

/** One event of a stream. `id` is the ledger sequence number; null for progress events, which are not replayed. */
export interface StreamEvent {
  readonly id: string | null;
  readonly type: string;
  readonly data: unknown;
}
