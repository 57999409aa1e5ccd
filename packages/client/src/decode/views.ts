import {
  isCallStatus,
  isReasonView,
  type ApprovalView,
  type AttemptView,
  type CallErrorView,
  type CallView,
  type ClientInputView,
  type InputAction,
  type DecisionView,
  type DeviceView,
  type DryRunView,
  type InputIssueView,
  type InputKind,
  type InputRequestView,
  type InputRoundView,
  type JsonSchema,
  type LedgerRowView,
  type McpClientView,
  type ReasonView,
  type ReceiptView,
  type RegisterResponse,
  type RejectedTool,
  type RunOutcomeName,
  type RunView,
  type SubmissionError,
  type SubmitResponse,
  type TimelineEntryView,
  type ToolAnnotations,
  type ToolDetailView,
  type ToolRequest,
  type ToolView,
  type TraceCallView,
  type TraceLedgerView,
} from '@patchboard/wire';
import {
  anything,
  boolean,
  check,
  isRecord,
  listOf,
  nullable,
  number,
  object,
  optional,
  record,
  string,
  withDefault,
  word,
  type Decoder,
} from './decode.ts';
import { decodeRunCalls } from './search-views.ts';

const schema: Decoder<JsonSchema> = check(
  (value): value is JsonSchema => isRecord(value) || typeof value === 'boolean',
  'a JSON Schema',
);

export const decodeAnnotations: Decoder<ToolAnnotations> = object<ToolAnnotations>({
  readonly: optional(boolean),
  destructive: optional(boolean),
  idempotent: optional(boolean),
  requires_approval: optional(boolean),
  asks_input: optional(boolean),
});

const toolFields = {
  name: string,
  source: word<ToolView['source']>(),
  description: withDefault(string, ''),
  schema,
  timeout_ms: number,
  wire_name: withDefault(string, ''),
  version: withDefault(string, ''),
  annotations: withDefault(decodeAnnotations, {}),
};

const route: Decoder<DryRunView['route']> = object<DryRunView['route']>({
  source: word<ToolView['source']>(),
  client_id: nullable(string),
  online: boolean,
});

/** Malformed ones count as none: the sentence that they stand beside is there in any case. */
export const decodeReasons: Decoder<readonly ReasonView[] | undefined> = (value) =>
  value === undefined ? undefined : Array.isArray(value) && value.every(isReasonView) ? value : [];

const issue: Decoder<InputIssueView> = object<InputIssueView>({
  path: string,
  message: string,
  reasons: decodeReasons,
  column: optional(number),
  length: optional(number),
});
export const decodeIssues: Decoder<readonly InputIssueView[]> = listOf(issue);

export const decodeTool: Decoder<ToolView> = object<ToolView>(toolFields);

export const decodeToolDetail: Decoder<ToolDetailView> = object<ToolDetailView>({
  ...toolFields,
  output_schema: nullable(schema),
  metadata: nullable(record),
  provider: object<ToolDetailView['provider']>({
    kind: word<ToolView['source']>(),
    client_id: nullable(string),
    online: boolean,
  }),
});

const callError: Decoder<CallErrorView> = object<CallErrorView>({
  code: word<CallErrorView['code']>(),
  message: string,
  reasons: decodeReasons,
  retryable: boolean,
  outcome: optional(word<NonNullable<CallErrorView['outcome']>>()),
  recommendations: optional(listOf(string)),
  note: optional(string),
});

const approval: Decoder<ApprovalView> = object<ApprovalView>({
  required: boolean,
  digest: string,
  expires_at: string,
  meta: optional(record),
  decision: optional(word<NonNullable<ApprovalView['decision']>>()),
  decided_by: optional(string),
  decided_at: optional(string),
  note: optional(string),
  original_args: optional(anything),
});

const decision: Decoder<DecisionView> = object<DecisionView>({
  effect: word<DecisionView['effect']>(),
  rule: string,
  reason: string,
  reasons: decodeReasons,
  policy_version: number,
});

const attempt: Decoder<AttemptView> = object<AttemptView>({
  attempt: number,
  started_at: string,
  ended_at: nullable(string),
  code: nullable(word<CallErrorView['code']>()),
  device: optional(string),
});

const timelineEntry: Decoder<TimelineEntryView> = object<TimelineEntryView>({
  state: word<CallView['state']>(),
  at: string,
  attempt: optional(number),
  code: optional(word<CallErrorView['code']>()),
});

const inputRequestFields = {
  id: string,
  kind: optional(word<InputKind>()),
  message: string,
  schema: optional(schema),
  url: optional(string),
  sampling: optional(record),
  expires_at: string,
};

const inputRequest: Decoder<InputRequestView> = object<InputRequestView>(inputRequestFields);

const inputRound: Decoder<InputRoundView> = object<InputRoundView>({
  ...inputRequestFields,
  requested_at: string,
  action: optional(word<NonNullable<InputRoundView['action']>>()),
  content: optional(anything),
  responded_at: optional(string),
});

const mcpClient: Decoder<McpClientView> = object<McpClientView>({
  name: string,
  version: withDefault(string, ''),
});

export const decodeCall: Decoder<CallView> = object<CallView>({
  tool_call_id: string,
  run_id: string,
  tool_name: string,
  source: word<CallView['source']>(),
  // The only enum that must be known: it determines when waiting ends.
  status: check(isCallStatus, 'a status'),
  args: anything,
  result: anything,
  error: nullable(callError),
  created_at: number,
  completed_at: nullable(number),
  state: word<CallView['state']>(),
  agent_id: withDefault(string, ''),
  decision,
  approval: nullable(approval),
  attempts: listOf(attempt),
  duration_ms: nullable(number),
  waited_ms: withDefault(nullable(number), null),
  ran_ms: withDefault(nullable(number), null),
  deadline_at: nullable(string),
  replay_of: nullable(string),
  tool_version: optional(string),
  trace_id: optional(string),
  parent_call_id: optional(string),
  sandbox: withDefault(nullable(word<NonNullable<CallView['sandbox']>>()), null),
  workspace: optional(word<'new'>()),
  timeline: listOf(timelineEntry),
  node: optional(number),
  mcp_client: optional(mcpClient),
  input_request: optional(inputRequest),
  inputs: optional(listOf(inputRound)),
});

export const decodeReceipt: Decoder<ReceiptView> = object<ReceiptView>({
  tool_call_id: string,
  status: check((value): value is 'pending' => value === 'pending', '"pending"'),
  message: withDefault(string, ''),
  state: optional(word<NonNullable<ReceiptView['state']>>()),
  input_request: optional(inputRequest),
});

export const decodeRun: Decoder<RunView> = object<RunView>({
  run_id: string,
  agent_id: string,
  created_at: string,
  cancelled_at: nullable(string),
  outcome: optional(word<RunOutcomeName>()),
  calls: optional(decodeRunCalls),
});

export const decodeLedgerRow: Decoder<LedgerRowView> = object<LedgerRowView>({
  seq: number,
  at: string,
  tenant_id: string,
  kind: string,
  tool_call_id: nullable(string),
  trace_id: nullable(string),
  body: anything,
  hash: string,
});

export const decodeTraceLedger: Decoder<TraceLedgerView> = object<TraceLedgerView>({
  trace_id: string,
  tenant_id: string,
  site_id: nullable(string),
  at: string,
  tool_calls: listOf(
    object<TraceCallView>({
      tool_call_id: nullable(string),
      tool_name: string,
      agent_id: string,
      attempts: number,
      cached: boolean,
      request_payload_hash: nullable(string),
    }),
  ),
  latency_ms: nullable(number),
  status: string,
  error: nullable(string),
  error_code: nullable(string),
});

export const decodeDevice: Decoder<DeviceView> = object<DeviceView>({
  session: string,
  client_id: string,
  name: withDefault(string, ''),
  state: word<DeviceView['state']>(),
  connected_at: string,
  tools: listOf(string),
  open_calls: withDefault(number, 0),
});

export const decodeDryRun: Decoder<DryRunView> = object<DryRunView>({
  valid: boolean,
  errors: decodeIssues,
  decision,
  route,
});

export const decodeRejectedTool: Decoder<RejectedTool> = object<RejectedTool>({
  name: string,
  code: string,
  reason: string,
  reasons: decodeReasons,
});

export const decodeRegistered: Decoder<RegisterResponse> = object<RegisterResponse>({
  ok: boolean,
  registered_count: number,
  rejected: listOf(decodeRejectedTool),
});

export const decodeSubmitted: Decoder<SubmitResponse> = object<SubmitResponse>({
  ok: boolean,
  tool_call_id: string,
  status: string,
  error: optional(object<SubmissionError>({ code: word<SubmissionError['code']>(), message: string })),
});

export const decodeClientInput: Decoder<ClientInputView> = object<ClientInputView>({
  tool_call_id: string,
  input_request_id: string,
  expires_at: optional(string),
  action: optional(word<InputAction>()),
  content: optional(anything),
  deadline_at: optional(string),
});

export const decodeToolRequest: Decoder<ToolRequest> = object<ToolRequest>({
  tool_call_id: string,
  tool_name: string,
  args: anything,
  timeout_ms: number,
  attempt: number,
  attempt_token: string,
  deadline_at: string,
  traceparent: optional(string),
});
