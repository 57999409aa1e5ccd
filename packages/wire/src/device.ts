import type { FailureCode } from './failure-codes.ts';
import type { RejectedTool, SubmissionError } from './internal.ts';
import type { JsonSchema, ToolAnnotations } from './views.ts';

/** What `hello` names; a device that knows another one is told so. */
export const DEVICE_PROTOCOL = 1;

/** One tool as a device registers it: `parameters` is what other APIs call `schema`. */
export interface DeviceToolSpec {
  readonly name: string;
  readonly description?: string;
  readonly parameters: JsonSchema;
  readonly timeout_ms?: number;
  readonly output_schema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What a device sends. Only `register_tools`, `tool_result` and `tool_error` are needed to lend a tool. */
export type DeviceFrame =
  | {
      readonly type: 'hello';
      readonly protocol?: number;
      readonly client_id?: string;
      readonly name?: string;
      /** The `resume_token` of an earlier connection. */
      readonly resume?: string;
      /** Requests the device has received and not seen acknowledged: what it does not name, it never got. */
      readonly holding?: readonly string[];
    }
  /** The greeting of an older gateway; its members are read and not needed. */
  | {
      readonly type: 'connect';
      readonly session_id?: string | null;
      readonly device_name?: string | null;
      readonly capabilities?: unknown;
    }
  | { readonly type: 'register_tools'; readonly tools: readonly DeviceToolSpec[] }
  | { readonly type: 'unregister_tools'; readonly tools?: readonly string[] }
  | { readonly type: 'get_registered_tools' }
  | {
      readonly type: 'tool_result';
      readonly id: string;
      readonly output?: unknown;
      readonly success?: boolean;
      readonly error?: string;
    }
  | {
      readonly type: 'tool_error';
      readonly id: string;
      readonly error?: string;
      readonly success?: boolean;
      readonly recommendations?: readonly string[];
    }
  | { readonly type: 'progress'; readonly id: string; readonly data: unknown }
  | { readonly type: 'ping' }
  | { readonly type: 'pong' };

/** Why a result was not kept. `invalid`: it could not be read, and the call has failed with that. */
export type NotKept = 'late' | 'unknown' | 'conflict' | 'invalid';

/** What the server sends to a device. */
export type GatewayFrame =
  | {
      readonly type: 'welcome';
      readonly protocol: number;
      readonly session: string;
      readonly client_id: string;
      readonly name: string;
      readonly resume_token: string;
      /** The calls of the earlier connection go on with this one. */
      readonly resumed: boolean;
      readonly heartbeat_ms: number;
      readonly max_frame_bytes: number;
      readonly grace_ms: number;
    }
  | {
      readonly type: 'tools_registered';
      /** Tools of this message. */
      readonly count: number;
      /** Tools of the connection. */
      readonly registered: number;
      readonly rejected: readonly RejectedTool[];
    }
  | { readonly type: 'connected'; readonly v: 1; readonly message: string }
  | { readonly type: 'tools_unregistered'; readonly removed: readonly string[] }
  | { readonly type: 'registered_tools'; readonly tools: readonly { name: string; version: string }[] }
  | {
      readonly type: 'tool_call_request';
      readonly id: string;
      readonly name: string;
      readonly args: unknown;
      readonly deadline_at: string;
      readonly attempt: number;
      readonly traceparent?: string;
    }
  | {
      readonly type: 'result_acknowledged';
      readonly id: string;
      readonly accepted: boolean;
      readonly duplicate?: true;
      readonly reason?: NotKept;
      /** How the call failed although a result was sent: it could not be read, or breaks the output schema. */
      readonly error?: SubmissionError;
    }
  | { readonly type: 'cancel'; readonly id: string; readonly reason: string }
  | { readonly type: 'ping' }
  | { readonly type: 'pong' }
  | {
      readonly type: 'error';
      /** `INVALID_JSON`, `UNKNOWN_MESSAGE_TYPE`, or the failure code. */
      readonly code: string;
      readonly failure_code: FailureCode;
      readonly message: string;
      readonly id?: string;
    };

/** Why the server closed a socket, where WebSocket has no number of its own for it. */
export const DEVICE_CLOSE = {
  /** Another connection took over with the resume token. */
  resumed: 4001,
  /** The credential the socket was opened with is no longer good. */
  credential: 4003,
} as const;

/** One row of `GET /v1/devices`. */
export interface DeviceView {
  readonly session: string;
  readonly client_id: string;
  readonly name: string;
  /** `away`: gone, and its calls wait for it to come back. */
  readonly state: 'online' | 'away';
  readonly connected_at: string;
  readonly tools: readonly string[];
  readonly open_calls: number;
}
