import { FAILURE_CODES, type GatewayFrame } from '@patchboard/wire';
import {
  ANY,
  ANNOTATIONS,
  COUNT,
  FLAG,
  INPUT_ACTION,
  INPUT_KEY,
  JSON_SCHEMA,
  listOf,
  nullable,
  object,
  PEER_ID,
  REASONS,
  TEXT,
  TIME,
} from '../shared/routes/schemas.ts';
import type { Schema } from '../shared/routes/routes.ts';

/** Sends frames to one device. */
export interface FrameSender {
  send(frame: GatewayFrame): void;
}

/** One type of frame. The schema validates it and documents it. */
export interface FrameKind {
  readonly summary: string;
  readonly schema: Schema;
}

const REQUEST_ID: Schema = { ...TEXT, maxLength: 400, description: 'the `id` of the `tool_call_request`' };
const TOOL_SPEC: Schema = {
  ...object(
    {
      name: TEXT,
      description: TEXT,
      parameters: { ...JSON_SCHEMA, description: 'JSON Schema of the arguments' },
      timeout_ms: COUNT,
      output_schema: JSON_SCHEMA,
      annotations: ANNOTATIONS,
      metadata: { type: 'object' },
    },
    ['description', 'timeout_ms', 'output_schema', 'annotations', 'metadata'],
  ),
};
const REJECTED = listOf(object({ name: TEXT, code: TEXT, reason: TEXT, reasons: REASONS }, ['reasons']));

/** Declares a frame with these members. Unknown members are allowed. */
function frame(
  type: string,
  summary: string,
  properties: Readonly<Record<string, Schema>> = {},
  optional: readonly string[] = [],
): readonly [string, FrameKind] {
  const schema = object({ type: { const: type }, ...properties }, optional);
  return [type, { summary, schema: { ...schema, additionalProperties: true } }];
}

/** Frames that devices send. */
export const DEVICE_FRAMES: ReadonlyMap<string, FrameKind> = new Map([
  frame(
    'hello',
    'Optional, and first: identifies the device and lets it resume after a disconnect. The reply is `welcome`.',
    {
      protocol: COUNT,
      client_id: { ...PEER_ID, description: 'the client that owns the tools' },
      name: { ...PEER_ID, description: 'name of the device; `target` of a call' },
      resume: { ...TEXT, maxLength: 200, description: 'the `resume_token` of the connection that was cut' },
      holding: {
        type: 'array',
        maxItems: 10_000,
        items: REQUEST_ID,
        description: 'requests received whose results are not acknowledged; others are sent again',
      },
    },
    ['protocol', 'client_id', 'name', 'resume', 'holding'],
  ),
  frame(
    'connect',
    'The greeting of older devices, in place of `hello` and without resume. The reply is `connected`.',
    {
      session_id: { ...nullable(TEXT), description: 'ignored: the server names the session' },
      device_name: { ...nullable(TEXT), description: 'the name of the device, if it can be a `target`' },
      capabilities: { ...ANY, description: 'ignored: `register_tools` lists the tools' },
    },
    ['session_id', 'device_name', 'capabilities'],
  ),
  frame('register_tools', 'Register tools while the connection lasts. Tools of several frames add up.', {
    tools: { type: 'array', maxItems: 500, description: 'checked one by one', items: ANY },
  }),
  frame(
    'unregister_tools',
    'Unregister the named tools, or all.',
    { tools: { type: 'array', items: TEXT, maxItems: 500 } },
    ['tools'],
  ),
  frame('get_registered_tools', 'Request the registered tools of this connection.'),
  frame(
    'tool_result',
    'The result of a call; `output` is text or any JSON and is kept as it is. With `success: false` it is a failure.',
    { id: REQUEST_ID, output: ANY, success: FLAG, error: TEXT },
    ['output', 'success', 'error'],
  ),
  frame(
    'tool_error',
    'The call failed.',
    {
      id: REQUEST_ID,
      error: TEXT,
      success: FLAG,
      recommendations: listOf(TEXT),
      code: {
        ...ANY,
        description: '`input_unavailable` or `input_declined`: the tool asked the caller and got no input',
      },
    },
    ['error', 'success', 'recommendations', 'code'],
  ),
  frame(
    'input_request',
    'Ask the caller of a running call for input. The reply is `input_response` or `input_refused`; `cancel` if the call ends first.',
    { id: REQUEST_ID, key: INPUT_KEY, message: TEXT, schema: JSON_SCHEMA, url: TEXT },
    ['schema', 'url'],
  ),
  frame('progress', 'Progress of a call, for event streams. It is not stored.', {
    id: REQUEST_ID,
    data: ANY,
  }),
  frame('ping', 'A heartbeat. The reply is `pong`.'),
  frame('pong', 'The reply to `ping`.'),
]);

/** Frames that the server sends. */
export const GATEWAY_FRAMES: ReadonlyMap<string, FrameKind> = new Map([
  frame('welcome', 'The reply to `hello`.', {
    protocol: COUNT,
    session: TEXT,
    client_id: TEXT,
    name: TEXT,
    resume_token: TEXT,
    resumed: { ...FLAG, description: 'the calls of the earlier connection go on with this one' },
    heartbeat_ms: COUNT,
    max_frame_bytes: COUNT,
    grace_ms: COUNT,
  }),
  frame('connected', 'The reply to `connect`.', { v: { const: 1 }, message: TEXT }),
  frame(
    'tools_registered',
    'The number of tools in the frame, the number registered now, and the rejected tools.',
    {
      count: { ...COUNT, description: 'tools of the message' },
      registered: { ...COUNT, description: 'tools of the connection, those of earlier messages included' },
      rejected: REJECTED,
    },
  ),
  frame('tools_unregistered', 'The tools that were unregistered.', { removed: listOf(TEXT) }),
  frame('registered_tools', 'The registered tools of this connection.', {
    tools: listOf(object({ name: TEXT, version: TEXT })),
  }),
  frame(
    'tool_call_request',
    'Run a tool. The reply is one `tool_result` or `tool_error` with the same `id`.',
    {
      id: { ...REQUEST_ID, description: 'id of this attempt' },
      name: TEXT,
      args: ANY,
      deadline_at: TIME,
      attempt: COUNT,
      traceparent: { ...TEXT, description: 'W3C trace context of the caller' },
    },
    ['traceparent'],
  ),
  frame(
    'result_acknowledged',
    'Whether a result was accepted (`duplicate`: it was accepted before), and why not.',
    {
      id: REQUEST_ID,
      accepted: FLAG,
      duplicate: { const: true },
      reason: { enum: ['late', 'unknown', 'conflict', 'invalid'] },
      error: {
        ...object({ code: { enum: FAILURE_CODES }, message: TEXT }),
        description: 'the error with which the call ended, although a result was sent',
      },
    },
    ['duplicate', 'reason', 'error'],
  ),
  frame('cancel', 'The call has ended: stop working on it.', { id: REQUEST_ID, reason: TEXT }),
  frame(
    'input_response',
    'The response of the caller to an `input_request`. It may be sent again after a reconnect.',
    {
      id: REQUEST_ID,
      key: INPUT_KEY,
      input_request_id: TEXT,
      action: INPUT_ACTION,
      content: { ...ANY, description: 'absent for a link and for a declined request' },
      deadline_at: { ...TIME, description: 'the new deadline: the clock of the tool stood still' },
    },
    ['content'],
  ),
  frame(
    'input_refused',
    'The caller was not asked. The device continues to work on the call, unless it has ended.',
    {
      id: REQUEST_ID,
      key: INPUT_KEY,
      failure_code: { enum: FAILURE_CODES },
      message: TEXT,
      reasons: REASONS,
    },
    ['reasons'],
  ),
  frame('pong', 'The reply to `ping`.'),
  frame(
    'error',
    'A malformed frame, or a result or input request that could not be stored and should be sent again.',
    {
      code: { ...TEXT, description: '`INVALID_JSON`, `UNKNOWN_MESSAGE_TYPE`, or the failure code' },
      failure_code: { enum: FAILURE_CODES },
      message: TEXT,
      reasons: REASONS,
      id: REQUEST_ID,
    },
    ['reasons', 'id'],
  ),
]);

/** The schema of one tool in `register_tools`. Each tool is validated and rejected on its own. */
export const DEVICE_TOOL_SPEC: Schema = TOOL_SPEC;
