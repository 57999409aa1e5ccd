import {
  CALL_STATES,
  CALL_STATUSES,
  FAILURE_CODES,
  INPUT_KINDS,
  RUN_OUTCOMES,
  TOOL_SOURCES,
} from '@patchboard/wire';
import type { Schema } from './routes.ts';
import {
  ANNOTATIONS,
  ANY,
  COUNT,
  FLAG,
  INPUT_ACTION,
  JSON_SCHEMA,
  listOf,
  nullable,
  object,
  optional,
  REASONS,
  TEXT,
  TIME,
} from './schemas.ts';

/** The schemas that several routes share: OpenAPI calls them components. */

const SOURCE: Schema = { enum: TOOL_SOURCES };
const CODE: Schema = { enum: FAILURE_CODES };
const STATE: Schema = { enum: CALL_STATES };
const METADATA: Schema = { type: 'object' };
const ISSUES: Schema = listOf(
  object(
    {
      path: TEXT,
      message: TEXT,
      reasons: REASONS,
      column: { ...COUNT, description: 'where in a query, from 1' },
      length: { ...COUNT, description: 'number of characters from there' },
    },
    ['reasons', 'column', 'length'],
  ),
);

const TOOL = {
  name: TEXT,
  source: SOURCE,
  description: TEXT,
  schema: JSON_SCHEMA,
  timeout_ms: COUNT,
  wire_name: TEXT,
  version: { ...TEXT, description: 'hash of the contract' },
  annotations: ANNOTATIONS,
};

const ERROR = object(
  {
    code: CODE,
    message: TEXT,
    reasons: REASONS,
    retryable: FLAG,
    outcome: { enum: ['unknown', 'not_started'] },
    recommendations: listOf(TEXT),
    note: TEXT,
  },
  ['reasons', 'outcome', 'recommendations', 'note'],
);

const APPROVAL = object(
  {
    required: FLAG,
    digest: TEXT,
    expires_at: TIME,
    meta: { ...ANY, description: 'data from the hook that required the approval' },
    decision: { enum: ['allow', 'deny'] },
    decided_by: TEXT,
    decided_at: TIME,
    note: TEXT,
    original_args: ANY,
  },
  ['meta', 'decision', 'decided_by', 'decided_at', 'note', 'original_args'],
);

const INPUT_REQUEST = {
  id: TEXT,
  kind: { enum: INPUT_KINDS, description: 'what the tool asks for' },
  message: TEXT,
  schema: { ...JSON_SCHEMA, description: 'of the content; absent for a link' },
  url: { ...TEXT, description: 'a link to visit; the response has no content' },
  sampling: {
    type: 'object',
    description: 'parameters of `sampling/createMessage`; the content of the response is its result',
  },
  expires_at: TIME,
};
const OPTIONAL_IN_REQUEST = ['schema', 'url', 'sampling'] as const;

const INPUTS = listOf(
  object({ ...INPUT_REQUEST, requested_at: TIME, action: INPUT_ACTION, content: ANY, responded_at: TIME }, [
    ...OPTIONAL_IN_REQUEST,
    'action',
    'content',
    'responded_at',
  ]),
);

const DECISION = object(
  {
    effect: { enum: ['allow', 'ask', 'deny'] },
    rule: TEXT,
    reason: TEXT,
    reasons: REASONS,
    policy_version: COUNT,
  },
  ['reasons'],
);

const PROVIDER = object({ kind: SOURCE, client_id: nullable(TEXT), online: FLAG });

type ComponentName =
  | 'Problem'
  | 'Receipt'
  | 'InputRequest'
  | 'Tool'
  | 'ToolDetail'
  | 'Call'
  | 'DryRun'
  | 'Run'
  | 'LedgerRow'
  | 'ToolRequest'
  | 'Submitted';

export function ref(name: ComponentName): Schema {
  return { $ref: `${name}#` };
}

/** The schema of a problem (RFC 9457) with further members. */
export function problemWith(
  more: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): Schema {
  return object(
    {
      type: TEXT,
      title: TEXT,
      status: { type: 'integer' },
      detail: TEXT,
      reasons: REASONS,
      code: CODE,
      retryable: FLAG,
      recommendations: listOf(TEXT),
      tool_call_id: TEXT,
      errors: ISSUES,
      state: STATE,
      ...more,
    },
    ['reasons', 'recommendations', 'tool_call_id', 'errors', 'state', ...optional],
  );
}

/** The members of a run. */
export const RUN: Readonly<Record<string, Schema>> = {
  run_id: TEXT,
  agent_id: TEXT,
  created_at: TIME,
  cancelled_at: nullable(TIME),
  outcome: {
    enum: RUN_OUTCOMES,
    description:
      '`running`: a call is open; `failed`: one ended in another state than COMPLETED; `empty`: it has no calls',
  },
  calls: {
    ...object({
      total: COUNT,
      open: COUNT,
      failed: { ...COUNT, description: 'that ended in another state than COMPLETED' },
      by_state: optional(Object.fromEntries(CALL_STATES.map((state) => [state, COUNT]))),
      last_ended_at: nullable(TIME),
    }),
    description: 'counts; a call that ends at this moment may be counted twice',
  },
};

const VIEWS: Readonly<Record<ComponentName, Schema>> = {
  Problem: problemWith({}),
  Receipt: object(
    {
      tool_call_id: TEXT,
      status: { const: 'pending' },
      message: TEXT,
      state: { const: 'INPUT_REQUIRED', description: 'the caller waited, and the tool needs input' },
      input_request: ref('InputRequest'),
    },
    ['state', 'input_request'],
  ),
  InputRequest: object(INPUT_REQUEST, OPTIONAL_IN_REQUEST),
  Tool: object(TOOL),
  ToolDetail: object({
    ...TOOL,
    output_schema: nullable(JSON_SCHEMA),
    metadata: nullable(METADATA),
    provider: PROVIDER,
  }),
  Call: object(
    {
      tool_call_id: TEXT,
      run_id: TEXT,
      tool_name: TEXT,
      source: SOURCE,
      status: { enum: CALL_STATUSES },
      args: ANY,
      result: {
        ...ANY,
        description:
          'any JSON; an object whose first member is `patchboard:content` holds text, pictures, audio, resources and links, ' +
          'of which a list shows at most 64 KiB',
      },
      error: nullable(ERROR),
      created_at: { ...COUNT, description: 'epoch seconds' },
      completed_at: nullable({ ...COUNT, description: 'epoch seconds' }),
      state: STATE,
      agent_id: TEXT,
      decision: DECISION,
      approval: nullable(APPROVAL),
      attempts: listOf(
        object(
          { attempt: COUNT, started_at: TIME, ended_at: nullable(TIME), code: nullable(CODE), device: TEXT },
          ['device'],
        ),
      ),
      duration_ms: { ...nullable(COUNT), description: 'from the record to the end, waiting included' },
      waited_ms: { ...nullable(COUNT), description: 'before its first execution' },
      ran_ms: { ...nullable(COUNT), description: 'from its first execution to its end' },
      deadline_at: nullable(TIME),
      replay_of: nullable(TEXT),
      tool_version: { ...TEXT, description: "hash of the tool's contract when the call was made" },
      trace_id: { ...TEXT, description: 'the trace that the caller named; absent if it named none' },
      parent_call_id: {
        ...TEXT,
        description: 'the call that the sub-agent which made this one works for; absent for other calls',
      },
      sandbox: { enum: ['bubblewrap', 'seatbelt', 'none', null], description: 'the sandbox it ran in' },
      workspace: {
        const: 'new',
        description:
          "the run's workspace moved to the node that ran the call: files of earlier calls are not there",
      },
      timeline: listOf(object({ state: STATE, at: TIME, attempt: COUNT, code: CODE }, ['attempt', 'code'])),
      node: {
        ...COUNT,
        description:
          'the `writer` in `GET /v1/nodes` that holds the call, or ended it; absent if only one node can use the store',
      },
      mcp_client: {
        ...object({ name: TEXT, version: TEXT }),
        description: 'the MCP client that made the call, as it describes itself; unverified',
      },
      input_request: ref('InputRequest'),
      inputs: { ...INPUTS, description: 'all input requests of the call; absent if there are none' },
    },
    ['trace_id', 'parent_call_id', 'workspace', 'node', 'mcp_client', 'input_request', 'inputs'],
  ),
  DryRun: object({
    valid: FLAG,
    errors: ISSUES,
    decision: DECISION,
    route: object({ source: SOURCE, client_id: nullable(TEXT), online: FLAG }),
  }),
  Run: object(RUN, ['outcome', 'calls']),
  LedgerRow: object({
    seq: COUNT,
    at: TIME,
    tenant_id: TEXT,
    kind: TEXT,
    tool_call_id: nullable(TEXT),
    trace_id: nullable(TEXT),
    body: ANY,
    hash: TEXT,
  }),
  ToolRequest: object(
    {
      tool_call_id: TEXT,
      tool_name: TEXT,
      args: ANY,
      timeout_ms: COUNT,
      attempt: COUNT,
      attempt_token: TEXT,
      traceparent: { ...TEXT, description: 'W3C trace context of the caller' },
      deadline_at: TIME,
    },
    ['traceparent'],
  ),
  Submitted: object(
    {
      ok: FLAG,
      tool_call_id: TEXT,
      status: { enum: CALL_STATUSES },
      error: {
        ...object({ code: CODE, message: TEXT }),
        description: 'why the result was not kept as it was sent',
      },
    },
    ['error'],
  ),
};

/** The schemas that routes reference by name. */
export const COMPONENTS: readonly Schema[] = Object.entries(VIEWS).map(([name, schema]) => ({
  $id: name,
  ...schema,
}));
