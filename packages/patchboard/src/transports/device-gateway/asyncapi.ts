import type { Schema } from '../shared/routes/routes.ts';
import { DEVICE_FRAMES, DEVICE_TOOL_SPEC, GATEWAY_FRAMES, type FrameKind } from './frames.ts';

let made: { readonly version: string; readonly json: string } | null = null;

/** Returns the AsyncAPI 3.0 document, generated from the schemas that validate frames. */
export function asyncApi(version: string): string {
  if (made?.version !== version) made = { version, json: JSON.stringify(documentOf(version)) };
  return made.json;
}

function documentOf(version: string): Schema {
  const sent = [...DEVICE_FRAMES.keys()];
  const received = [...GATEWAY_FRAMES.keys()];
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Patchboard devices',
      version,
      description:
        'JSON text frames. Only register_tools, tool_result and tool_error are needed to provide a tool. Every result is acknowledged once.',
    },
    defaultContentType: 'application/json',
    channels: {
      device: {
        address: '/ws',
        title: 'One connected device',
        messages: { ...references(DEVICE_FRAMES, 'device'), ...references(GATEWAY_FRAMES, 'server') },
        bindings: { ws: { query: { type: 'object', properties: { ticket: { type: 'string' } } } } },
      },
    },
    operations: {
      fromDevice: operation('receive', 'What devices send.', sent, 'device'),
      toDevice: operation('send', 'What the server sends.', received, 'server'),
    },
    components: {
      messages: { ...messages(DEVICE_FRAMES, 'device'), ...messages(GATEWAY_FRAMES, 'server') },
      schemas: { ToolSpec: DEVICE_TOOL_SPEC },
    },
  };
}

type Side = 'device' | 'server';

/** Includes the side, because both send `pong`. */
function nameOf(type: string, side: Side): string {
  return `${side}.${type}`;
}

function references(frames: ReadonlyMap<string, FrameKind>, side: Side): Record<string, Schema> {
  return Object.fromEntries(
    [...frames.keys()].map((type) => [
      nameOf(type, side),
      { $ref: `#/components/messages/${nameOf(type, side)}` },
    ]),
  );
}

function messages(frames: ReadonlyMap<string, FrameKind>, side: Side): Record<string, Schema> {
  return Object.fromEntries(
    [...frames].map(([type, { summary, schema }]) => [
      nameOf(type, side),
      { name: type, summary, payload: payloadOf(type, schema) },
    ]),
  );
}

/** The frame's own schema accepts any tools, which are validated one by one; the document shows their schema. */
function payloadOf(type: string, schema: Schema): Schema {
  if (type !== 'register_tools') return schema;
  const tools = { type: 'array', maxItems: 500, items: { $ref: '#/components/schemas/ToolSpec' } };
  return { ...schema, properties: { ...(schema['properties'] as Schema), tools } };
}

function operation(
  action: 'send' | 'receive',
  summary: string,
  types: readonly string[],
  side: Side,
): Schema {
  return {
    action,
    summary,
    channel: { $ref: '#/channels/device' },
    messages: types.map((type) => ({ $ref: `#/channels/device/messages/${nameOf(type, side)}` })),
  };
}
