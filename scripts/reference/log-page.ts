import { loggedEvents } from './logged-events.ts';
import { code, page, table } from './page.ts';

const EVENTS: Readonly<Record<string, string>> = {
  'server.stopping': 'a signal has come; no more calls are taken',
  'server.stopped': 'everything is written, and the process ends',
  'permissions.tightened':
    'other users could read the data folder or the operator token, and cannot any more. If the token may have been read, delete its file and restart: a new one is made',
  'server.connections_full':
    'as many connections are open as the limit of open files allows; `closed` and `refused` count those turned away since the start. At most once a minute',
  'engine.recovered': 'the last process left calls open: so many go on, so many were sealed',
  tool_call_success: 'a call was completed',
  tool_call_error: 'a call ended otherwise, or was refused and never recorded; `code` says why',
  tool_call_log_misplaced:
    'a call that has not ended was taken for one that has: a fault of the server, report it',
  'call.cancel_failed': 'whoever waited for a call left, and it could not be cancelled',
  'call.dropped':
    'the row of an open call is gone from the store, or is older than the one this process read: the process stopped its work and forgot the call',
  'call.event_after_end': 'a tool goes on emitting although its call has ended; said once per call',
  'call.event_dropped': 'a tool emitted what cannot be passed on, and why',
  'registry.tool_left_out':
    'a tool that a client lent before the restart is not there any more: its name or its schema is refused by now. ' +
    'The client gets the reason when it registers it again',
  'policy.warning':
    'a line of the policy that the server starts with probably has no effect: `code` and the others say which and why, as `GET /v1/policy` does',
  'registry.type_unknown':
    'a method of a module has a parameter whose type is not known here: any value is taken for it. `module`, `method`, `parameter` and `type` say which',
  'policy.unreadable': 'the policy of a tenant cannot be read: until it is replaced nothing is allowed there',
  'tenant.unreadable':
    'what an operator said of a tenant cannot be read: it has no site and no pack until it is said again',
  'sandbox.none': 'nothing can enclose commands here, and why; `off`: so they are off',
  'device.socket_error': 'a socket of a device broke',
  'auth.internal_key_ignored':
    'in local mode a client sends `X-Internal-API-Key`, and no such key is configured; reported once',
  'device.not_reading': 'a device does not read what it is sent, and was cut off',
  'device.failed': 'a message of a device could not be handled: a fault of the server, report it',
  'operator_token.refused':
    'a wrong operator token came from `address`; `unrecorded`: how many more came since the last such line',
  'operator_token.not_recorded':
    'a wrong operator token was refused, and its ledger row could not be written',
  'http.failed': 'a request ended with 500: a fault of the server, report it with the `stack`',
  'http.stream_failed': 'a stream ended early, because the store could not be read',
  'store.lost':
    'the data folder or the log of the store was moved, deleted or replaced while the server runs: writes are refused with 503. `problem` says what to do',
  'store.head_failed':
    'the head file of the store could not be written, and why; it is tried again every second. Until then a loss of the newest rows may go unnoticed',
  'store.found': 'the files are back where they were opened: writes are accepted again',
  'http.stream_dropped':
    'an event stream was cut off because it was not read: `unread_bytes` of it, opened with `credential`. Its reader comes back and goes on where it was',
  'store.write_failed': 'a change of a call could not be written yet; it is tried again',
  'task.failed': 'work in the background failed; `task` says which',
  'agent.handler_failed': 'a handler of events that was given to an agent threw',
  'agent.permission_unheard':
    'an agent waits for a decision and no handler or subscription listens for `permission_required`: its call waits until an operator decides or the approval expires; logged once for each agent',
  'retention.purged': 'so many old calls were removed',
  'retention.failed': 'old calls could not be removed; it is tried again in an hour',
};

export function logPage(): string {
  const logged = loggedEvents();
  const unexplained = [...logged.keys()].filter((event) => !Object.hasOwn(EVENTS, event));
  const unused = Object.keys(EVENTS).filter((event) => !logged.has(event));
  if (unexplained.length + unused.length > 0)
    throw new Error(`the list of log events lacks ${unexplained.join()} or has too much: ${unused.join()}`);
  const rows = Object.entries(EVENTS).map(([event, meaning]) => [
    code(event),
    logged.get(event) ?? '',
    meaning,
  ]);
  return page('Log', [
    'The server writes JSON lines to stderr, pretty ones on a terminal: `level`, `timestamp`, `event` and what belongs to it. `PATCHBOARD_LOG` sets the level. Arguments and results are never in them.',
    'Tools log under names of their own, with `tool_call_id` and `tool_name` beside them.',
    table(['event', 'level', 'meaning'], rows),
  ]);
}
