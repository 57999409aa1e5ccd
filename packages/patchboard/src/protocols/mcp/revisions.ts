/** The protocol version whose requests need no session. */
export const MODERN_VERSION = '2026-07-28';

/** The tasks extension. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Keys of our own in `_meta`. */
export const META = {
  runId: 'patchboard/run_id',
  idempotencyKey: 'patchboard/idempotency_key',
  target: 'patchboard/target',
  toolCallId: 'patchboard/tool_call_id',
  error: 'patchboard/error',
  /** How many gateways have passed the call on. */
  hops: 'patchboard/hops',
  /** The id of a running server: a gateway recognises itself by it. */
  instance: 'patchboard/instance',
  /** Of a listed tool: the instances of the servers that it passes through, the farthest first. */
  via: 'patchboard/via',
} as const;
