import { loggedEvents } from './logged-events.ts';
import { code, page, table } from './page.ts';

const EVENTS: Readonly<Record<string, string>> = {
  'server.stopping':
    'the server got a signal to stop, or another process has taken over its store; new calls are refused',
  'server.restarting':
    'several nodes: another node took this one for dead and has its calls, with the problem; the server starts again in the same process',
  'server.store_away':
    'a fenced server cannot start again, because the database cannot be reached: `error` says why. It responds 503, except for `/healthz`, and tries again until it succeeds or gets a signal',
  'server.not_listening': 'the same, and its port cannot be used meanwhile: nothing responds',
  'server.stopped': 'all data is written, and the process exits',
  'server.file_failed':
    '`server.json` in the data folder could not be written or removed, with the reason: `patchboard mcp` may not find this server by itself',
  'permissions.tightened':
    'other users could read the data folder or the operator token; their access was removed. If the token may have been read, delete its file and restart: a new one is created',
  'server.connections_full':
    'the limit of open connections is reached; `closed` and `refused` count the closed and refused ones since the start. Logged at most once a minute',
  'engine.recovered':
    'the last process left calls open: the number that continue, and the number that were sealed',
  'engine.fenced':
    'no write of this server succeeds any more, because another process has taken over the store, or the database was restored to an earlier state: `problem` says which. All work was stopped, all calls are refused, and `patchboard serve` starts again in its process',
  tool_call_success: 'a call was completed',
  tool_call_error: 'a call ended in another state, or was refused and not recorded; `code` is the reason',
  tool_call_log_misplaced: 'an open call was logged as ended: a bug of the server, please report it',
  'call.cancel_failed': 'a waiting caller left, and its call could not be cancelled',
  'call.dropped':
    'the row of an open call is missing in the store, or older than the one this process read: the process stopped the call and dropped it',
  'call.event_after_end': 'a tool emits events although its call has ended; logged once per call',
  'call.listener_failed': 'a listener of the in-process caller threw an error',
  'call.event_dropped': 'a tool emitted an invalid event, with the reason',
  'search.index_failed':
    'the index of calls could not be read or written, with the error; tried again with back-off. Calls are not affected, searches miss what ended since',
  'search.counts_failed':
    'runs were listed without counts of their calls, because the index could not be read, with the error',
  'search.index_recovered': 'the index of calls is written again',
  'search.index_rebuilt':
    'the index of calls is made anew, because it belongs to another store or to a later state of this one; until then searches miss calls',
  'store.cleaning_failed':
    'expired tokens, old removals or offers of nodes that are gone could not be deleted from the database, with the error; tried again',
  'mcp.request_not_sent':
    'a request of a call to its MCP client, such as an input request, could not be stored, with the error: it was not sent',
  'mcp.session_not_read':
    'the session of an older MCP client that another node changed could not be read, with the error: the next request reads it',
  'changes.unreadable':
    'a key, grant, policy, tenant or other document that another node has stored could not be applied: `kind`, `id` and the error identify it',
  'changes.not_announced':
    'a change was stored, but not announced to the other nodes: they find it within a second',
  'session.link_not_stored':
    'the login link of the start could not be stored, with the error: make another with `patchboard open`',
  'registry.tool_left_out':
    'a tool that a client registered before the restart was skipped: its name or its schema is no longer valid. ' +
    'The client gets the reason when it registers the tool again',
  'upstream.connected': 'an upstream is connected',
  'upstream.disconnected':
    'the connection of an upstream ended, with the reason; it is tried again with back-off',
  'upstream.failed': 'an upstream is not tried again until an operator restarts it, with the reason',
  'upstream.tool_rejected': 'a tool of an upstream cannot be offered, with the reason',
  'upstream.close_failed': 'the connection of an upstream could not be closed at shutdown',
  'policy.warning':
    'a line of the policy at the start probably has no effect: `code` and the other members name the line and the reason, as in `GET /v1/policy`',
  'registry.type_unknown':
    'a parameter of a module has an unknown type: it accepts any value. `module`, `method`, `parameter` and `type` identify it',
  'policy.unreadable':
    'the stored policy of a tenant is unreadable: every call of the tenant is denied until it is replaced',
  'tenant.unreadable':
    'the stored settings of a tenant are unreadable: it has no site and no pack until they are set again',
  'sandbox.none': 'no sandbox is available, with the reason; `off` means that commands and writes are off',
  'device.socket_error': 'the WebSocket of a device failed',
  'auth.internal_key_ignored':
    'in local mode a client sends `X-Internal-API-Key`, and no such key is configured; reported once',
  'device.not_reading': 'a device does not read its messages and was disconnected',
  'device.failed': 'a message of a device could not be handled: a bug of the server, please report it',
  'key.use_not_written':
    'when keys were last used could not be stored, with the reason; it is written with the next uses',
  'operator_token.refused':
    'a wrong operator token, or at sign-in a wrong key, came from `address`; `unrecorded` is the number of further ones since the last such line',
  'operator_token.not_recorded':
    'a wrong operator token was refused, and its ledger row could not be written',
  'http.failed': 'a request ended with 500: a bug of the server, please report it with the `stack`',
  'http.stream_failed': 'a stream ended early, because the store could not be read',
  'store.lost':
    'the data folder or the log of the store was moved, deleted or replaced while the server runs: writes are refused with 503. `problem` says what to do',
  'store.head_failed':
    'the head file of the store could not be written, with the reason; retried every second. Until then a loss of the newest rows may not be detected',
  'store.found': 'the files are back where they were opened: writes are accepted again',
  'upstream.message':
    'an upstream MCP server logged something during a call: `upstream`, `level`, `logger`, `message`. At most 20 lines per call',
  'mcp.client_gone':
    'an MCP client closed the connection during `tools/call`, so the call was cancelled: `tool_call_id`, `tool`. If a proxy closed it, set `mcp.hold_ms` (now `hold_ms`) below the time limit of the proxy',
  'mcp.failed': 'a request to `/mcp` failed by a fault of the server: `error`, `stack`',
  'http.stream_dropped':
    'an event stream was closed because it was not read: `unread_bytes`, opened with `credential`. Its reader can reconnect with `Last-Event-ID`',
  'upstream.stderr':
    'a line that the process of an upstream wrote to stderr, without secret values: `upstream`, `line`; `dropped` is the number of lines before it that came too fast and were not logged',
  'store.watch_failed':
    'PostgreSQL: new ledger rows could not be read for live events; retried every second, and no row is left out',
  'store.sequencing_failed':
    'PostgreSQL: committed ledger rows could not get their sequence numbers; retried every second',
  'store.partitions_failed':
    'PostgreSQL: a partition for this month or the next could not be made, with the reason. Its rows go to the default partition, which is slower to purge; retried every day',
  'store.heartbeat_failed':
    'PostgreSQL: the heartbeat of this server could not be written; it is retried twice a second',
  'store.writer_not_freed':
    'PostgreSQL: the server stopped without releasing its writer; other nodes, and the next start, take over its calls after the end of its lease, 3 seconds',
  'bus.connected':
    'notifications between nodes are received: `bus` is `postgres` or `nats`; `dropped` counts those that were too many to keep since the last connection',
  'bus.disconnected':
    'the server of the bus cannot be reached, with the reason; it is tried again for ever. Until then nodes ask the store',
  'bus.refused':
    'the server of the bus refuses notifications of this node, with the reason, such as missing permissions in NATS',
  'bus.pooled':
    'a pooler is in front of PostgreSQL, so this node receives no notifications; `message` says what to set',
  'bus.invalid_notification':
    'something that is no notification is on the channel of the bus, with the problem; it is ignored, and reported once',
  'bus.listener_failed': 'a notification could not be handled: a bug of the server, please report it',
  'cluster.took_over':
    'several nodes: another node was gone, and this one has its calls now: `node`, `holder`, and the number of `calls`',
  'cluster.observation_late':
    'several nodes: this node read the heartbeats of the others too late (`ms` since the last time) to tell whether one is dead; it begins anew, and takes over up to three seconds later',
  'cluster.heartbeat_failed':
    'several nodes: the heartbeat of this node could not be written; it is retried twice a second, and the node begins no work meanwhile',
  'cluster.poll_failed':
    'several nodes: a comparison with the database failed, with the reason; it is repeated every second',
  'cluster.config_differs':
    'several nodes: another node runs with other limits, rates, policy, packs, hooks or another version: `node`, `holder`. Logged once for each start of that node',
  'cluster.clock_stepped':
    'several nodes: the clock of the database was set, by `by_ms` milliseconds, and this node follows it. For ten minutes only calls of nodes without a heartbeat are ended by others',
  'store.write_failed': 'a change of a call could not be written yet; it is retried',
  'task.failed': 'a background task failed; `task` is its name',
  'agent.handler_failed': 'an event handler of an agent threw',
  'board.input_handler_failed':
    '`onInputRequest` threw, or returned a response that was not valid: the input request was declined',
  'agent.input_unheard':
    'a call of an agent waits for input and no handler or subscription listens for `input_required`: it waits for `agent.respondInput` until the request expires; logged once for each agent',
  'agent.permission_unheard':
    'an agent waits for a decision and no handler or subscription listens for `permission_required`: its call waits until an operator decides or the approval expires; logged once for each agent',
  'retention.purged': 'old calls were deleted; `calls` is their number',
  'retention.failed': 'old calls could not be deleted; retried in an hour',
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
    'The server writes JSON lines to stderr, formatted for reading on a terminal: `level`, `timestamp`, `event` and its members. `PATCHBOARD_LOG` sets the level. Log lines never contain arguments or results.',
    'Tools log under their own event names, with `tool_call_id` and `tool_name`.',
    table(['event', 'level', 'meaning'], rows),
  ]);
}
