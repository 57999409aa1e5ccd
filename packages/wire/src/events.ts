import type { CallStateName, CallStatus } from './call-state.ts';
import type { FailureCode } from './failure-codes.ts';

/** Names of the server-sent events. */
export const EVENT_TYPES = [
  'call.state',
  'call.progress',
  'tool_custom_event',
  'permission_required',
  'permission_decided',
  'registry.changed',
  'device.changed',
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
}

export interface CallProgressEvent {
  readonly tool_call_id: string;
  readonly at: string;
  readonly data: unknown;
}

/** What a tool emits under a name of its own. Not replayed. */
export interface ToolCustomEvent {
  readonly tool_call_id: string;
  readonly at: string;
  readonly event_type: string;
  readonly data: unknown;
}

export interface RegistryChangedEvent {
  readonly at: string;
  /** Absent: tools of the server itself. */
  readonly client_id?: string;
  readonly registered?: readonly string[];
  readonly removed?: readonly string[];
  /** Of those registered, the ones whose contract is not what it was before: nobody has agreed to the new one. */
  readonly changed?: readonly string[];
  /** Tools that were registered as less risky than before, and stay as they were. */
  readonly kept_risk?: readonly string[];
  /** Tools that an operator, named in `by`, registered as less risky than before. */
  readonly lowered_risk?: readonly string[];
  /** Names whose risk an operator, named in `by`, had forgotten. */
  readonly forgotten_risk?: readonly string[];
  readonly by?: string;
}

export interface DeviceChangedEvent {
  readonly at: string;
  readonly client_id: string;
  readonly name: string;
  readonly session: string;
  /** `away`: gone, and its calls wait for it to come back; `gone`: for good. */
  readonly state: 'online' | 'away' | 'gone';
}

/** One event as read from a stream; `id` is the ledger sequence, absent for progress, which is not replayed. */
export interface StreamEvent {
  readonly id: string | null;
  readonly type: string;
  readonly data: unknown;
}
