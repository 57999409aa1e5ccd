import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** Why a call ended without a result, or could not be approved, cancelled or completed. */
export interface CallFailures {
  readonly call_unknown: { readonly id: string };
  readonly call_over: { readonly state: string };
  readonly call_ended: { readonly state: string };
  readonly call_not_waiting: { readonly id: string; readonly state: string };
  readonly call_not_ended: { readonly id: string; readonly state: string };
  readonly call_cancelled_by: { readonly by: string };
  readonly call_waits_for_approval: NoParams;
  readonly call_of_other_client: NoParams;
  readonly call_runs_on_server: { readonly tool: string };
  readonly call_runs_on_device: { readonly device: string };
  readonly call_runs_in_other_program: NoParams;
  readonly call_token_stale: NoParams;
  readonly call_secrets_removed: NoParams;
  readonly approval_needed: { readonly id: string };
  readonly approval_denied_by_user: NoParams;
  readonly approval_ran_out: NoParams;
  readonly approval_tool_changed: NoParams;
  readonly tool_changed: { readonly tool: string };
  readonly approval_request_changed: NoParams;
  readonly approval_digest_differs: NoParams;
  readonly approval_word_unknown: { readonly word: string };
  readonly approval_of_own_call: NoParams;
  readonly input_of_approved_call: { readonly tool: string };
  /** `kind` is absent in records of an older version. */
  readonly input_caller_cannot: { readonly tool: string; readonly kind?: string };
  readonly input_rounds_used: { readonly rounds: number };
  readonly input_not_requested: { readonly id: string; readonly state: string };
  readonly input_request_unknown: { readonly id: string };
  readonly input_already_given: { readonly id: string };
  readonly input_from_other_caller: NoParams;
  readonly cancel_from_other_caller: NoParams;
  readonly input_does_not_fit: { readonly id: string };
  readonly input_over_limit: { readonly bytes: number };
  readonly input_schema_invalid: { readonly problem: readonly ReasonView[] };
  readonly input_request_empty: NoParams;
  readonly input_requests_too_many: { readonly count: number };
  readonly inputs_too_many: { readonly count: number };
  readonly input_carry_too_large: { readonly bytes: number };
  readonly input_message_missing: NoParams;
  readonly input_message_too_long: { readonly characters: number };
  readonly input_request_mixed: NoParams;
  readonly input_sampling_invalid: { readonly issues: readonly ReasonView[] };
  readonly input_sampling_too_large: { readonly bytes: number };
  readonly input_url_invalid: { readonly url: string };
  readonly input_request_open: { readonly id: string };
  readonly input_key_reused: { readonly key: string };
  readonly run_unknown: { readonly id: string };
  readonly run_was_cancelled: { readonly id: string };
  readonly run_of_other_agent: { readonly id: string };
  readonly runs_of_other_agent: { readonly id: string; readonly own: string };
  readonly call_not_stored: NoParams;
  readonly call_moved_elsewhere: NoParams;
  readonly call_ended_without_reason: { readonly id: string };
  readonly call_still_open: { readonly id: string; readonly state: string };
  readonly call_continues: { readonly id: string; readonly state: string };
  readonly arguments_not_writable: NoParams;
  readonly tool_threw_no_failure: NoParams;
  readonly tool_threw_unreadable: NoParams;
  /** `shortage`: one of the codes that follow. */
  readonly command_not_started: { readonly shortage: readonly ReasonView[] };
  readonly query_not_started: { readonly shortage: readonly ReasonView[] };
  readonly server_out_of_descriptors: NoParams;
  readonly machine_out_of_descriptors: NoParams;
  readonly machine_out_of_memory: NoParams;
  readonly server_out_of_processes: NoParams;
  readonly no_result_in_time: { readonly seconds: number };
  readonly no_client_result_in_time: { readonly seconds: number };
  readonly server_stopped_running: NoParams;
  readonly server_stopped_effect: NoParams;
  readonly server_stopped_task: NoParams;
  readonly call_goes_on: { readonly id: string };
  readonly server_shutting_down: NoParams;
  readonly device_left_running: NoParams;
  readonly device_left_unasked: NoParams;
  readonly device_not_offering: { readonly target: string; readonly tool: string };
  readonly target_of_server_tool: { readonly tool: string };
  readonly sandbox_differs: { readonly wanted: string; readonly here: string };
  readonly result_over_limit: { readonly bytes: number };
  readonly result_not_json: { readonly error: string };
  readonly output_does_not_fit: { readonly issues: readonly ReasonView[] };
  readonly hook_output_does_not_fit: { readonly issues: readonly ReasonView[] };
  readonly content_not_list: NoParams;
  readonly content_member_unknown: { readonly member: string };
  readonly content_structured_missing: NoParams;
  readonly content_block: { readonly number: number; readonly problem: readonly ReasonView[] };
  readonly block_not_object: NoParams;
  readonly block_type_unknown: { readonly type: string };
  readonly block_member_wrong: { readonly type: string; readonly member: string };
  readonly block_not_base64: { readonly type: string; readonly member: string; readonly at: number };
  readonly block_not_mime_type: { readonly type: string; readonly member: string; readonly given: string };
  readonly block_without_contents: NoParams;
  readonly client_reported_failure: NoParams;
  readonly open_calls_of_tenant: { readonly count: number };
  readonly open_bytes_of_tenant: { readonly bytes: number };
  readonly open_bytes_of_server: { readonly bytes: number };
  readonly reply_costs: { readonly bytes: number; readonly tokens: number };
  readonly rate_of_calls: { readonly who: string; readonly per_second: number };
}

export const CALL_FAILURES: Sentences<CallFailures> = {
  call_unknown: ({ id }) => `no such call: ${id}`,
  call_over: ({ state }) => `the call is already over: ${state}`,
  call_ended: ({ state }) => `the call has ended: ${state}`,
  call_not_waiting: ({ id, state }) => `call ${id} does not wait for a decision: it is ${state}`,
  call_not_ended: ({ id, state }) => `call ${id} has not ended yet: it is ${state}`,
  call_cancelled_by: ({ by }) => `cancelled by ${by}`,
  call_waits_for_approval: () => 'the call still waits for approval: run it when it is delivered',
  call_of_other_client: () =>
    'the call is for another client: a client submits results of its own calls only',
  call_runs_on_server: ({ tool }) => `${tool} runs on the server: a client cannot submit its result`,
  call_runs_on_device: ({ device }) => `the device ${device} runs the call`,
  call_runs_in_other_program: () => 'another program of this client has acknowledged the call',
  call_token_stale: () => 'the attempt token is not that of the current attempt: discard this result',
  call_secrets_removed: () => 'secrets were taken out of the arguments of that call; send args',
  approval_needed: ({ id }) => `an operator must approve the call: ${id}`,
  approval_denied_by_user: () => 'Permission denied by user',
  approval_ran_out: () => 'the approval request expired before an operator decided',
  approval_tool_changed: () => 'the tool changed after the call was approved; make the call again',
  tool_changed: ({ tool }) => `the contract of ${tool} changed while the call waited: call it again`,
  approval_request_changed: () => 'the stored request is not the one that was approved; make the call again',
  approval_digest_differs: () =>
    'the digest is not that of the request that waits; read the approval again, then decide',
  approval_word_unknown: ({ word }) => `a decision is allow or deny, not ${word}`,
  approval_of_own_call: () => 'you cannot decide on your own call; another operator must decide',
  input_of_approved_call: ({ tool }) =>
    `the call was approved, and ${tool} does not declare \`asks_input\`: input would change what was approved`,
  input_caller_cannot: ({ tool, kind }) =>
    `${tool} needs input${kind === undefined ? '' : ` (${kind})`} from its caller, and this caller cannot give it`,
  input_rounds_used: ({ rounds }) => `a call may ask for input ${rounds} times at most`,
  input_not_requested: ({ id, state }) => `call ${id} does not wait for input: it is ${state}`,
  input_request_unknown: ({ id }) => `the call has no input request ${id}`,
  input_already_given: ({ id }) => `input request ${id} already has its response`,
  cancel_from_other_caller: () =>
    'a client that runs a call ends it by submitting a result; only its caller may cancel it',
  input_from_other_caller: () => 'only the agent that made the call may give its input',
  input_does_not_fit: ({ id }) => `the content does not fit the schema of input request ${id}`,
  input_over_limit: ({ bytes }) => `the content is larger than ${bytes} bytes as JSON`,
  input_schema_invalid: ({ problem }) => `the schema of the input request is not valid: ${problem}`,
  input_request_empty: () => 'the tool asked its caller for nothing',
  input_requests_too_many: ({ count }) => `the tool asked for more than ${count} things at once`,
  inputs_too_many: ({ count }) => `a request may carry at most ${count} responses to input requests`,
  input_carry_too_large: ({ bytes }) =>
    `what the tool keeps for its next run is larger than ${bytes} bytes as JSON`,
  input_message_missing: () => 'the input request has no message',
  input_message_too_long: ({ characters }) =>
    `the message of the input request is longer than ${characters} characters`,
  input_request_mixed: () =>
    'the input request has more than one of `schema`, `url`, `sampling` and `roots`; leave one of them',
  input_sampling_invalid: ({ issues }) =>
    `\`sampling\` of the input request does not fit \`sampling/createMessage\`: ${issues}`,
  input_sampling_too_large: ({ bytes }) =>
    `\`sampling\` of the input request is larger than ${bytes} bytes as JSON`,
  input_url_invalid: ({ url }) => `the url of the input request must start with http:// or https://: ${url}`,
  input_request_open: ({ id }) =>
    `input request ${id} has no response yet: a call asks for one thing at a time`,
  input_key_reused: ({ key }) =>
    `the key ${key} names an earlier input request of this attempt, with another message, schema or url`,
  run_unknown: ({ id }) => `no such run: ${id}`,
  run_was_cancelled: ({ id }) => `run ${id} was cancelled; use another run id`,
  run_of_other_agent: ({ id }) => `run ${id} belongs to another agent; use another run id`,
  runs_of_other_agent: ({ id, own }) => `runs ${id} and ${own} belong to another agent`,
  call_not_stored: () => 'the call is not stored any more',
  call_moved_elsewhere: () => 'another node manages the call now',
  call_ended_without_reason: ({ id }) => `call ${id} ended without a reason`,
  call_still_open: ({ id, state }) => `call ${id} has not ended: it is ${state}`,
  call_continues: ({ id, state }) => `call ${id} continues after the board has closed: it is ${state}`,
  arguments_not_writable: () => 'the arguments cannot be written as JSON',
  tool_threw_no_failure: () =>
    'the tool threw an invalid ToolFailure: it needs a known code, a message, and only JSON values',
  tool_threw_unreadable: () => 'the tool threw a value that cannot be read',
  command_not_started: ({ shortage }) => `the command could not be started: ${shortage}`,
  query_not_started: ({ shortage }) => `the query could not be started: ${shortage}`,
  server_out_of_descriptors: () => 'the server has no file descriptors left (EMFILE)',
  machine_out_of_descriptors: () => 'the machine has no file descriptors left (ENFILE)',
  machine_out_of_memory: () => 'the machine has no memory left (ENOMEM)',
  server_out_of_processes: () => 'the server may start no more processes (EAGAIN)',
  no_result_in_time: ({ seconds }) => `no result within ${seconds}s`,
  no_client_result_in_time: ({ seconds }) => `Remote tool timeout (${seconds}s)`,
  server_stopped_running: () => 'the server was stopped while the tool was running',
  server_stopped_effect: () => 'the server stopped while the tool was running, which may have taken effect',
  server_stopped_task: () => 'the server stopped, and with it the task that this call was part of',
  call_goes_on: ({ id }) => `the server is shutting down, and the call goes on: ${id}`,
  server_shutting_down: () => 'the server is shutting down',
  device_left_running: () => 'the device disconnected during the call, which may have taken effect',
  device_left_unasked: () => 'the device disconnected before the call was sent to it',
  device_not_offering: ({ target, tool }) => `${target} does not offer ${tool}`,
  target_of_server_tool: ({ tool }) => `target names a device, but ${tool} runs on the server`,
  sandbox_differs: ({ wanted, here }) =>
    `the call was made for sandbox ${wanted}, and this server uses ${here}; make the call again`,
  result_over_limit: ({ bytes }) => `the result is larger than ${bytes} bytes`,
  result_not_json: ({ error }) => `the result cannot be written as JSON: ${error}`,
  output_does_not_fit: ({ issues }) => `the result does not fit the tool's output schema: ${issues}`,
  hook_output_does_not_fit: ({ issues }) =>
    `a hook changed the result, and it does not fit the tool's output schema: ${issues}`,
  content_not_list: () => 'the member "patchboard:content" of the result must be a list of blocks',
  content_member_unknown: ({ member }) =>
    `a result with content has the members "patchboard:content" and "structured", and not "${member}"`,
  content_structured_missing: () =>
    'the tool has an output schema, and its result with content has no member "structured"',
  content_block: ({ number, problem }) => `block ${number} of the result's content: ${problem}`,
  block_not_object: () => 'it must be an object',
  block_type_unknown: ({ type }) =>
    `its type must be text, image, audio, resource or resource_link, not ${type}`,
  block_member_wrong: ({ type, member }) => `${type} needs the member "${member}", a text that is not empty`,
  block_not_base64: ({ type, member, at }) =>
    `"${member}" of ${type} is not base64 with padding: character ${at} is wrong, or the text ends there`,
  block_not_mime_type: ({ type, member, given }) =>
    `"${member}" of ${type} must be a media type such as image/png, not "${given}"`,
  block_without_contents: () => 'the resource needs either "text" or "blob"',
  client_reported_failure: () => 'the client reported a failure',
  open_calls_of_tenant: ({ count }) => `${count} calls of this tenant have not ended, which is the limit`,
  open_bytes_of_tenant: ({ bytes }) =>
    `the arguments of this tenant's calls that have not ended may take ${bytes} bytes together`,
  open_bytes_of_server: ({ bytes }) =>
    `the arguments of all calls that have not ended may take ${bytes} bytes together`,
  reply_costs: ({ bytes, tokens }) => `a reply of ${bytes} bytes counts as ${tokens} more calls`,
  rate_of_calls: ({ who, per_second: rate }) => `too many calls: ${who} may make ${rate} a second`,
};
