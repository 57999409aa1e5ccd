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
  'call.state': 'a call is in another state',
  'call.progress': 'a tool says how far it is; not kept, so not told again',
  tool_custom_event: 'a tool emits `event_type` with `data`; not kept either',
  permission_required: 'a call waits for an operator',
  permission_decided: 'an operator, a grant or the end of the wait has decided',
  'registry.changed': 'clients lend tools or take them back; what changed in their contracts and risks',
  'device.changed': 'a device is `online`, `away` (its calls wait for it) or `gone`',
};

const REQUESTS = {
  tool_request: 'run this: `tool_call_id`, `tool_name`, `args`, `attempt_token`, `deadline_at`',
  tool_cancel: 'a request that was sent no longer matters: `tool_call_id`, `reason`',
};

const AGENT: { readonly [Type in AgentEventType]: readonly [AgentEventOf<Type>['channel'], string] } = {
  text_delta: ['progress', 'the next piece of what the model says'],
  'tool:start': ['progress', 'a call begins'],
  'tool:error': ['progress', 'a call ended badly; `tool:end` follows'],
  'tool:end': ['progress', 'a call ended, well or badly'],
  done: ['progress', 'the agent stopped, and why'],
  permission_required: ['control', 'a call waits for a decision; `respond` gives it'],
  permission_decided: ['control', 'somebody decided'],
  tool_executed: ['monitor', 'a call ended, for whoever counts and bills'],
  tool_custom_event: ['monitor', 'a tool emitted something under a name of its own'],
  state_changed: ['monitor', 'the agent is `idle`, `working` or `waiting`'],
  model_replied: ['monitor', 'a reply of the model is whole, with its usage'],
  repeat_noticed: ['monitor', 'the model asks for the same again and again'],
  error: ['monitor', 'the model or the store failed'],
  agent_resumed: ['monitor', 'the agent was taken up from its journal; what was interrupted'],
  sub_agent_started: ['monitor', 'a tool handed its task on'],
  sub_agent_ended: ['monitor', 'that task is over'],
};

const LEDGER: Readonly<Record<LedgerKind, string>> = {
  'call.state': 'a move of a call; the first one says what the call is',
  'call.refused': 'a call that was not taken, and why',
  permission_required: 'a call waits for an operator',
  permission_decided: 'who decided what, and on which arguments',
  'run.created': 'a run and its agent',
  'run.cancelled': 'no call joins the run any more',
  'registry.changed': 'lent tools came, went or changed',
  'device.changed': 'a device came or went',
  'key.created': 'a key, without its secret',
  'key.revoked': 'a key is worthless',
  'grant.created': 'a standing answer',
  'grant.revoked': 'it asks again',
  'policy.changed': 'the policy of a tenant was replaced',
  'tenant.changed': 'what is said of a tenant was replaced',
  'operator_token.refused':
    'a wrong operator token, and the address it came from; `unrecorded`: how many came since the row before and have none',
  'local_mode.allowed':
    'an operator allowed requests without a credential again, after the last key was revoked',
  'store.loss_accepted':
    'an operator went on without what the store lost: what the head file named, and what was found',
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
    '`GET /internal/clients/:client_id/requests`, for a client that lends tools:',
    table(['event', 'meaning'], rowsOf(REQUESTS)),
    '## Messages of devices',
    'JSON over `GET /ws`; `GET /asyncapi.json` has their schemas, and [the guide](../guides/devices.md) what happens when.',
    table(['a device sends', 'members', 'meaning'], frameRows(DEVICE_FRAMES)),
    table(['the server sends', 'members', 'meaning'], frameRows(GATEWAY_FRAMES)),
    `Besides the numbers of WebSocket itself, the server closes with ${DEVICE_CLOSE.resumed} when another connection resumed the device, and with ${DEVICE_CLOSE.credential} when its credential is no longer good.`,
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
