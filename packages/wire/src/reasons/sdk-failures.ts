import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** Why a board or an agent refuses what a program asks of it, or cannot go on. */
export interface SdkFailures {
  readonly this_problem: { readonly problem: readonly ReasonView[]; readonly found: readonly ReasonView[] };
  readonly schema_of_other_library: { readonly place: string };
  readonly hooks_missing: { readonly place: string; readonly names: string };
  readonly tool_not_made: NoParams;
  readonly setting_unknown: { readonly setting: string; readonly known: string };
  readonly model_not_model: NoParams;
  readonly model_without_stream: NoParams;
  readonly model_version: { readonly version: string };
  readonly agent_name_of_operator: { readonly name: string };
  readonly agent_id_of_operator: { readonly name: string };
  readonly board_closed: NoParams;
  readonly board_listening: NoParams;
  readonly body_read_before_board: NoParams;
  readonly folder_missing: { readonly path: string };
  readonly folder_no_folder: { readonly path: string };
  readonly folder_outside: { readonly path: string; readonly folder: string };
  readonly folder_exposes: { readonly option: string; readonly path: string; readonly folder: string };
  readonly folder_of_root: { readonly path: string };
  readonly module_without_method: { readonly module: string; readonly method: string };
  readonly method_not_for_agents: { readonly module: string; readonly method: string };
  readonly method_name_form: { readonly name: string };
  readonly arguments_mismatch: NoParams;
  readonly agent_text_empty: NoParams;
  readonly agent_not_unfinished: NoParams;
  readonly agent_call_unknown: { readonly id: string };
  readonly agent_board_closed: { readonly id: string };
  readonly agent_unknown: { readonly id: string };
  readonly agent_id_taken: { readonly id: string };
  readonly agent_entry_damaged: { readonly no: number; readonly id: string; readonly error: string };
  readonly agent_not_written: { readonly error: string };
  readonly agent_interrupted: NoParams;
  readonly agent_stopped: NoParams;
  readonly agent_went_on: NoParams;
  readonly agent_iterations_reached: { readonly count: number };
  readonly agents_nested: { readonly depth: number };
  readonly spawn_call_not_open: { readonly id: string };
  readonly model_failed: { readonly model: string; readonly provider: string; readonly error: string };
  readonly model_arguments_not_json: {
    readonly problem: readonly ReasonView[];
    readonly line: number;
    readonly column: number;
  };
  readonly at_line_of_reply: {
    readonly line: number;
    readonly column: number;
    readonly problem: readonly ReasonView[];
  };
}

export const SDK_FAILURES: Sentences<SdkFailures> = {
  this_problem: ({ problem, found }) => `this ${problem}; it is ${found}`,
  schema_of_other_library: ({ place }) =>
    `${place} is a schema of an unsupported library: use zod 4 or a JSON Schema`,
  hooks_missing: ({ place, names }) => `${place} has none of ${names}`,
  tool_not_made: () => 'write tool({…}) around it',
  setting_unknown: ({ setting, known }) => `${setting} is no setting: ${known}`,
  model_not_model: () => "must be a model of an AI SDK provider, such as openai('gpt-5')",
  model_without_stream: () => 'has no doStream: it is no language model of the AI SDK',
  model_version: ({ version }) =>
    `implements version ${version} of the AI SDK's interface; supported are v3 and v4`,
  agent_name_of_operator: ({ name }) => `name must not be ${name}: an agent must not decide on its own calls`,
  agent_id_of_operator: ({ name }) =>
    `agentId must not be ${name}: that is the operator, who decides approvals`,
  board_closed: () => 'the board was closed',
  board_listening: () => 'already listening: close the server that listen() returned first',
  body_read_before_board: () => 'the request body was read before it reached the board',
  folder_missing: ({ path }) => `root ${path} does not exist; make the folder, or set create: true`,
  folder_no_folder: ({ path }) => `root ${path} is not a folder`,
  folder_outside: ({ path, folder }) => `root ${path} is not in the shared folder ${folder}`,
  folder_exposes: ({ option, path, folder }) =>
    `${option} ${path} contains the data folder ${folder}, and with it the store and the operator token: name a narrower ` +
    'folder, or move the data folder out of it',
  folder_of_root: ({ path }) =>
    `${path} belongs to root, and the server runs as root: commands would run as root in it. Give the folder to ` +
    `another user (chown -R 1000:1000 ${path}), or start the server as its user`,
  module_without_method: ({ module, method }) => `${module} has no method ${method}`,
  method_not_for_agents: ({ module, method }) => `agents may not call ${method} of ${module}`,
  method_name_form: ({ name }) => `no tool is named "${name}"; a method is named toolId_methodName`,
  arguments_mismatch: () => 'do not match the schema',
  agent_text_empty: () => 'send requires a text that is not empty',
  agent_not_unfinished: () => 'there is nothing to continue; use send',
  agent_call_unknown: ({ id }) => `no call of this agent: ${id}`,
  agent_board_closed: ({ id }) =>
    `the board was closed while the agent was running; continue with Agent.resume('${id}')`,
  agent_unknown: ({ id }) => `no agent has the id ${id} in this store`,
  agent_id_taken: ({ id }) => `another agent has the id ${id}: resume it, or use another id`,
  agent_entry_damaged: ({ no, id, error }) => `entry ${no} of the journal of ${id} is damaged: ${error}`,
  agent_not_written: ({ error }) => `the agent could not write: ${error}`,
  agent_interrupted: () => 'the agent was interrupted before the tool was started',
  agent_stopped: () => 'the agent stopped before the tool was started',
  agent_went_on: () => 'the tool was not run before the conversation continued',
  agent_iterations_reached: ({ count }) => `maxIterations is reached: ${count} replies may call tools`,
  agents_nested: ({ depth }) => `agents may be nested ${depth} deep, and this would be one more`,
  spawn_call_not_open: ({ id }) =>
    `spawn: callId must be an open call of this agent, such as context.callId: ${id}`,
  model_failed: ({ model, provider, error }) => `the model ${model} of ${provider} failed: ${error}`,
  model_arguments_not_json: ({ problem, line, column }) =>
    `the arguments are not valid JSON: ${problem} at ${line}:${column}`,
  at_line_of_reply: ({ line, column, problem }) => `line ${line}, column ${column} of the reply: ${problem}`,
};
