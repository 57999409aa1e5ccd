import type { FailureCode } from './failure-codes.ts';
import type { ReasonView } from './reasons/reason.ts';
import type { InputFailureCode, RejectedTool, SubmissionError } from './internal.ts';
import type { InputAction, JsonSchema, ToolAnnotations } from './views.ts';

/** The protocol version in `hello`. The server sends an error to a device that names another version. */
export const DEVICE_PROTOCOL = 1;

/** One tool as a device registers it. `parameters` is the input schema, named `schema` on the other APIs. */
export interface DeviceToolSpec {
  readonly name: string;
  readonly description?: string;
  readonly parameters: JsonSchema;
  readonly timeout_ms?: number;
  readonly output_schema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A message from a device. Registering and running a tool requires only `register_tools`, `tool_result` and `tool_error`. */
export type DeviceFrame =
  | {
      readonly type: 'hello';
      readonly protocol?: number;
      readonly client_id?: string;
      readonly name?: string;
      /** The `resume_token` of an earlier connection. */
      readonly resume?: string;
      /** Ids of requests that the device has received without an acknowledgement. The server sends all others again. */
      readonly holding?: readonly string[];
    }
  /** The first message of an older gateway protocol. All members are optional. */
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
      /** Set if the tool failed because it got no input. */
      readonly code?: InputFailureCode;
    }
  /** Asks the caller of the request `id` for input. The reply is `input_response` or `input_refused`, or `cancel`. */
  | {
      readonly type: 'input_request';
      readonly id: string;
      /** Chosen by the device, unique within the attempt: the same request sent again is recorded once. */
      readonly key: string;
      readonly message: string;
      readonly schema?: JsonSchema;
      readonly url?: string;
    }
  | { readonly type: 'progress'; readonly id: string; readonly data: unknown }
  | { readonly type: 'ping' }
  | { readonly type: 'pong' };

/** Why a result was not stored. `invalid`: it could not be parsed, and the call failed for that reason. */
export type NotKept = 'late' | 'unknown' | 'conflict' | 'invalid';

/** A message from the server to a device. */
export type GatewayFrame =
  | {
      readonly type: 'welcome';
      readonly protocol: number;
      readonly session: string;
      readonly client_id: string;
      readonly name: string;
      readonly resume_token: string;
      /** Whether this connection took over the calls of the earlier one. */
      readonly resumed: boolean;
      readonly heartbeat_ms: number;
      readonly max_frame_bytes: number;
      readonly grace_ms: number;
    }
  | {
      readonly type: 'tools_registered';
      /** Number of tools accepted from this message. */
      readonly count: number;
      /** Number of tools registered on this connection in total. */
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
      /** Set if the call failed although a result arrived: the result could not be parsed or violates the output schema. */
      readonly error?: SubmissionError;
    }
  | { readonly type: 'cancel'; readonly id: string; readonly reason: string }
  /** The caller's response. May be sent again after a reconnect. */
  | {
      readonly type: 'input_response';
      readonly id: string;
      readonly key: string;
      readonly input_request_id: string;
      readonly action: InputAction;
      /** Absent for a link and for a declined request. */
      readonly content?: unknown;
      /** The new deadline: the clock of the tool stood still. */
      readonly deadline_at: string;
    }
  /** The caller was not asked. The device continues to work on the call. */
  | {
      readonly type: 'input_refused';
      readonly id: string;
      readonly key: string;
      readonly failure_code: FailureCode;
      readonly message: string;
      /** What `message` was made from. */
      readonly reasons?: readonly ReasonView[];
    }
  | { readonly type: 'ping' }
  | { readonly type: 'pong' }
  | {
      readonly type: 'error';
      /** `INVALID_JSON`, `UNKNOWN_MESSAGE_TYPE`, or the failure code. */
      readonly code: string;
      readonly failure_code: FailureCode;
      readonly message: string;
      /** What `message` was made from. */
      readonly reasons?: readonly ReasonView[];
      readonly id?: string;
    };

/** Application-specific WebSocket close codes. */
export const DEVICE_CLOSE = {
  /** Another connection took over with the resume token. */
  resumed: 4001,
  /** The credential of the connection was revoked or has expired. */
  credential: 4003,
} as const;

/** One row of `GET /v1/devices`. */
export interface DeviceView {
  readonly session: string;
  readonly client_id: string;
  readonly name: string;
  /** `away`: disconnected, within the grace period; its calls wait for it to reconnect. */
  readonly state: 'online' | 'away';
  readonly connected_at: string;
  readonly tools: readonly string[];
  readonly open_calls: number;
}
