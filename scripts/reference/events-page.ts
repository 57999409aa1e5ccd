import type { EventType } from '@patchboard/wire';
import { DEVICE_CLOSE } from '@patchboard/wire';
import type {
  AgentEvent,
  AgentEventOf,
  AgentEventType,
} from '../../packages/patchboard/src/agent/events/events.ts';
import type { LedgerKind } from '../../packages/patchboard/src/core/ledger/ledger.ts';
import {
  DEVICE_FRAMES,
  GATEWAY_FRAMES,
  type FrameKind,
} from '../../packages/patchboard/src/transports/device-gateway/frames.ts';
import { code, page, table } from './page.ts';

/** An event that has no row here does not compile, and neither does a row without its event. */
const STREAM: Readonly<Record<EventType, string>> = {
  'call.state': 'the state of a call changed',
  'call.progress': 'progress of a tool; not stored, so not repeated after a reconnect',
  tool_custom_event: 'a tool emits `event_type` with `data`; not stored either',
  permission_required: 'a call waits for an operator',
  permission_decided: 'an operator or a grant has decided, or the approval has expired',
  input_required: 'a running tool needs input from its caller; the request is in the call record',
  input_given: 'the caller has responded to an input request',
  'registry.changed':
    'tools were registered, changed or removed, with the changes of contracts and risks; without names: list again',
  'device.changed': 'a device is `online`, `away` (its calls wait for it) or `gone`',
  'upstream.changed':
    'the state of an upstream changed, or an operator accepted its contracts; not stored as an event',
  'resources.changed':
    'resources or templates were added or removed, or contents changed; not stored, without a list: list again',
  'prompts.changed': 'prompts were added or removed; not stored either',
};

const REQUESTS = {
  tool_request: 'a call to run: `tool_call_id`, `tool_name`, `args`, `attempt_token`, `deadline_at`',
  tool_cancel: 'a request that was sent is no longer needed: `tool_call_id`, `reason`',
};

const AGENT: { readonly [Type in AgentEventType]: readonly [AgentEventOf<Type>['channel'], string] } = {
  text_delta: ['progress', "the next piece of the model's text"],
  'tool:start': ['progress', 'a call starts'],
  'tool:error': ['progress', 'a call failed; `tool:end` follows'],
  'tool:end': ['progress', 'a call ended, successfully or not'],
  done: ['progress', 'the agent stopped, with the reason'],
  permission_required: ['control', 'a call waits for a decision; `respond` decides'],
  permission_decided: ['control', 'a call was decided'],
  input_required: ['control', 'a tool needs input; `respond` gives the content, `decline` declines'],
  input_given: ['control', 'an input request has its response'],
  tool_executed: ['monitor', 'a call ended, for metrics and billing'],
  tool_custom_event: ['monitor', 'a tool emitted a custom event'],
  state_changed: ['monitor', 'the agent is `idle`, `working` or `waiting`'],
  model_replied: ['monitor', 'a reply of the model is complete, with its usage'],
  repeat_noticed: ['monitor', 'the model repeats the same request'],
  error: ['monitor', 'the model or the store failed'],
  agent_resumed: ['monitor', 'the agent was resumed from its journal; with the interrupted calls'],
  sub_agent_started: ['monitor', 'a tool started a sub-agent'],
  sub_agent_ended: ['monitor', 'the sub-agent ended'],
};

const LEDGER: Readonly<Record<LedgerKind, string>> = {
  'call.state': 'a state change of a call; the first row describes the call',
  'call.refused': 'a refused call, with the reason',
  permission_required: 'a call waits for an operator',
  permission_decided: 'the decision, who made it, and the arguments it covers',
  input_required: 'a running tool asked its caller for input; with a hash of the request',
  input_given: 'the caller responded: `accept` with a hash of the content, or `decline`',
  'run.created': 'a run and its agent',
  'run.cancelled': 'the run accepts no more calls',
  'registry.changed': 'tools were registered, changed or removed while the server ran',
  'device.changed': 'a device connected or disconnected',
  'upstream.changed':
    'an upstream connected, disconnected, failed or was removed, or an operator accepted its contracts',
  'key.created': 'a key, without its secret',
  'key.revoked': 'a key is no longer valid',
  'grant.created': 'a grant',
  'grant.revoked': 'calls of the grant require approval again',
  'policy.changed': 'the policy of a tenant was replaced',
  'tenant.changed': 'the settings of a tenant were replaced',
  'operator_token.refused':
    'a wrong operator token, and its address; `unrecorded` is the number of further ones since the last such row',
  'local_mode.allowed':
    'an operator allowed requests without a credential again, after the last key was revoked',
  'store.loss_accepted':
    'an operator accepted the loss of rows: the row that the head file named, and the one that was found',
  'store.copied':
    'an operator requested a backup, a copy of the whole store; written before the copy is made',
};

export function eventsPage(): string {
  const agentRow = ([type, [channel, meaning]]: readonly [
    string,
    readonly [AgentEvent['channel'], string],
  ]) => [code(type), channel, meaning];
  return page('Events and messages', [
    '## Streams of the server',
    '`GET /v1/events` and `GET /v1/tool_calls/:id/events`, as server-sent events. Members of `data` are the types of `@patchboard/wire`.',
    table(['event', 'meaning'], rowsOf(STREAM)),
    '`GET /internal/clients/:client_id/requests`, for a client that runs tools:',
    table(['event', 'meaning'], rowsOf(REQUESTS)),
    '## Messages of devices',
    'JSON over `GET /ws`; `GET /asyncapi.json` has their schemas, and [the guide](../guides/devices.md) explains the protocol.',
    table(['a device sends', 'members', 'meaning'], frameRows(DEVICE_FRAMES)),
    table(['the server sends', 'members', 'meaning'], frameRows(GATEWAY_FRAMES)),
    `Besides the standard WebSocket close codes, the server closes with ${DEVICE_CLOSE.resumed} if another connection resumed the device, and with ${DEVICE_CLOSE.credential} if its credential is no longer valid.`,
    '## Events of an agent',
    'In your own process, see [the guide](../guides/agents.md#events).',
    table(['type', 'channel', 'meaning'], Object.entries(AGENT).map(agentRow)),
    '## Rows of the ledger',
    '`GET /v1/ledger` and `patchboard ledger`.',
    table(['kind', 'meaning'], rowsOf(LEDGER)),
  ]);
}

function rowsOf(meanings: Readonly<Record<string, string>>): string[][] {
  return Object.entries(meanings).map(([name, meaning]) => [code(name), meaning]);
}

function frameRows(frames: ReadonlyMap<string, FrameKind>): string[][] {
  return [...frames].map(([type, { summary, schema }]) => {
    const required = (schema['required'] ?? []) as readonly string[];
    const members = Object.keys((schema['properties'] ?? {}) as object).filter((name) => name !== 'type');
    const shown = members.map((name) => code(required.includes(name) ? name : `${name}?`));
    return [code(type), shown.join(' '), summary];
  });
}
