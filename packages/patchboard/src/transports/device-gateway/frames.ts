import { FAILURE_CODES } from '@patchboard/wire';
import {
  ANY,
  ANNOTATIONS,
  COUNT,
  FLAG,
  listOf,
  nullable,
  object,
  PEER_ID,
  REASONS,
  TEXT,
  TIME,
} from '../shared/routes/schemas.ts';
import type { Schema } from '../shared/routes/routes.ts';

/** One kind of message: what validates it is what describes it. */
export interface FrameKind {
  readonly summary: string;
  readonly schema: Schema;
}

const REQUEST_ID: Schema = { ...TEXT, maxLength: 400, description: 'of the `tool_call_request`, as it came' };
const JSON_SCHEMA: Schema = { type: ['object', 'boolean'] };
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

/** A frame of this type with these members. Devices may send more than we know. */
function frame(
  type: string,
  summary: string,
  properties: Readonly<Record<string, Schema>> = {},
  optional: readonly string[] = [],
): readonly [string, FrameKind] {
  const schema = object({ type: { const: type }, ...properties }, optional);
  return [type, { summary, schema: { ...schema, additionalProperties: true } }];
}

/** What devices send. */
export const DEVICE_FRAMES: ReadonlyMap<string, FrameKind> = new Map([
  frame(
    'hello',
    'Optional, and first: who the device is, and that it can come back. Answered with `welcome`.',
    {
      protocol: COUNT,
      client_id: { ...PEER_ID, description: 'who owns the tools' },
      name: { ...PEER_ID, description: 'of the device; `target` of a call' },
      resume: { ...TEXT, maxLength: 200, description: 'the `resume_token` of the connection that was cut' },
      holding: {
        type: 'array',
        maxItems: 10_000,
        items: REQUEST_ID,
        description: 'requests that came and were not acknowledged yet; others are sent again',
      },
    },
    ['protocol', 'client_id', 'name', 'resume', 'holding'],
  ),
  frame(
    'connect',
    'The greeting of older devices, in place of `hello` and without its return after a cut. Answered with `connected`.',
    {
      session_id: { ...nullable(TEXT), description: 'ignored: the server names the session' },
      device_name: { ...nullable(TEXT), description: 'the name of the device, if it can be a `target`' },
      capabilities: { ...ANY, description: 'ignored: `register_tools` says what the device can do' },
    },
    ['session_id', 'device_name', 'capabilities'],
  ),
  frame('register_tools', 'Lend tools for as long as the connection lasts; several add up.', {
    tools: { type: 'array', maxItems: 500, description: 'checked one by one', items: ANY },
  }),
  frame(
    'unregister_tools',
    'Take tools back: those named, or all.',
    { tools: { type: 'array', items: TEXT, maxItems: 500 } },
    ['tools'],
  ),
  frame('get_registered_tools', 'Ask which tools of this connection are registered.'),
  frame(
    'tool_result',
    'The result of a call; `output` is text or any JSON and is kept as it is. With `success: false` it is a failure.',
    { id: REQUEST_ID, output: ANY, success: FLAG, error: TEXT },
    ['output', 'success', 'error'],
  ),
  frame(
    'tool_error',
    'The call failed.',
    { id: REQUEST_ID, error: TEXT, success: FLAG, recommendations: listOf(TEXT) },
    ['error', 'success', 'recommendations'],
  ),
  frame('progress', 'How far the work is, for whoever watches. It is passed on, not kept.', {
    id: REQUEST_ID,
    data: ANY,
  }),
  frame('ping', 'A sign of life, answered with `pong`.'),
  frame('pong', 'The answer to `ping`.'),
]);

/** What the server sends. */
export const GATEWAY_FRAMES: ReadonlyMap<string, FrameKind> = new Map([
  frame('welcome', 'The answer to `hello`.', {
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
  frame('connected', 'The answer to `connect`.', { v: { const: 1 }, message: TEXT }),
  frame('tools_registered', 'How many were sent, how many are registered now, and which were not taken.', {
    count: { ...COUNT, description: 'tools of the message' },
    registered: { ...COUNT, description: 'tools of the connection, those of earlier messages included' },
    rejected: REJECTED,
  }),
  frame('tools_unregistered', 'What was taken back.', { removed: listOf(TEXT) }),
  frame('registered_tools', 'What is registered by this connection.', {
    tools: listOf(object({ name: TEXT, version: TEXT })),
  }),
  frame(
    'tool_call_request',
    'Run this. The answer is one `tool_result` or `tool_error` with the same `id`.',
    {
      id: { ...REQUEST_ID, description: 'of this attempt' },
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
    'What became of a result: kept (`duplicate`: it was before), or not, and why.',
    {
      id: REQUEST_ID,
      accepted: FLAG,
      duplicate: { const: true },
      reason: { enum: ['late', 'unknown', 'conflict', 'invalid'] },
      error: {
        ...object({ code: { enum: FAILURE_CODES }, message: TEXT }),
        description: 'how the call failed although a result was sent',
      },
    },
    ['duplicate', 'reason', 'error'],
  ),
  frame('cancel', 'The call ended otherwise: stop working on it.', { id: REQUEST_ID, reason: TEXT }),
  frame('pong', 'The answer to `ping`.'),
  frame(
    'error',
    'A frame that was not understood, or a result that could not be stored now and should be sent again.',
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

/** How a tool is written in `register_tools`; each is checked by itself and answered by name. */
export const DEVICE_TOOL_SPEC: Schema = TOOL_SPEC;
