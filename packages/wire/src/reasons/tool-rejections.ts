import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** Why a tool is not registered, by its name, its size or its contract. */
export interface ToolRejections {
  readonly tool_name_rule: NoParams;
  /** `name`: as JSON. */
  readonly tool_name_bad: { readonly name: string };
  readonly module_id_bad: { readonly id: string };
  readonly method_name_bad: { readonly module: string; readonly name: string };
  readonly factory_makes_other: { readonly name: string; readonly made: string };
  readonly module_registered_twice: { readonly id: string };
  readonly tool_registered_twice: { readonly tool: string };
  readonly name_is_wire_name: { readonly tool: string };
  readonly name_reserved: { readonly name: string };
  readonly name_prefix_reserved: { readonly name: string };
  /** `holder`: one of the codes `held_by_…`. */
  readonly name_held: { readonly name: string; readonly holder: readonly ReasonView[] };
  readonly wire_name_held: {
    readonly name: string;
    readonly tool: string;
    readonly holder: readonly ReasonView[];
  };
  readonly held_by_server: NoParams;
  readonly held_by_server_choose_other: NoParams;
  readonly held_by_client: { readonly client: string; readonly tool: string };
  readonly name_lent: { readonly name: string; readonly holder: readonly ReasonView[] };
  readonly name_lent_elsewhere: { readonly name: string };
  readonly name_not_registrable: NoParams;
  readonly device_gone: NoParams;
  readonly contract_of_devices: { readonly devices: string; readonly tool: string };
  readonly contract_over_http: { readonly client: string; readonly tool: string };
  /** `tool`, `other`: names at the upstream. */
  readonly upstream_name_taken: { readonly name: string; readonly tool: string; readonly other: string };
  readonly upstream_name_long: { readonly characters: number; readonly most: number };
  readonly name_similar: { readonly other: string };
  readonly tools_of_client: { readonly count: number };
  readonly tools_of_tenant: { readonly count: number };
  readonly tool_bytes_of_tenant: { readonly bytes: number };
  readonly risky_names_of_tenant: { readonly count: number };
  readonly spec_timeout_range: { readonly most: number };
  readonly description_over_limit: { readonly bytes: number };
  readonly metadata_over_limit: { readonly bytes: number };
  readonly description_hidden: { readonly problem: readonly ReasonView[] };
  readonly tool_timeout_range: { readonly tool: string; readonly most: number };
  readonly tool_reads_and_destroys: { readonly tool: string };
  readonly tool_not_cacheable: { readonly tool: string };
  readonly tool_asks_and_caches: { readonly tool: string };
  readonly slot_limit_range: { readonly slot: string };
  readonly input_schema_of: { readonly tool: string; readonly problem: readonly ReasonView[] };
  readonly output_schema_of: { readonly tool: string; readonly problem: readonly ReasonView[] };
}

const NAME_RULE = 'a name is 1 to 128 of A-Z a-z 0-9 _ . -, not made of dots only, and not __proto__';

export const TOOL_REJECTIONS: Sentences<ToolRejections> = {
  tool_name_rule: () => NAME_RULE,
  tool_name_bad: ({ name }) => `bad tool name: ${name}: ${NAME_RULE}`,
  module_id_bad: ({ id }) => `bad module id: ${id}: use A-Z a-z 0-9 _ . -`,
  method_name_bad: ({ module, name }) =>
    `bad method name in module ${module}: ${name}: use A-Z a-z 0-9 . - and no _`,
  factory_makes_other: ({ name, made }) => `the factory for ${name} makes a tool named ${made}`,
  module_registered_twice: ({ id }) => `module registered twice: ${id}`,
  tool_registered_twice: ({ tool }) => `tool registered twice: ${tool}`,
  name_is_wire_name: ({ tool }) => `the name is the wire name of ${tool}`,
  name_reserved: ({ name }) => `${name} is reserved by this server: use another name`,
  name_prefix_reserved: ({ name }) =>
    `${name}: the prefixes patchboard. and patchboard__ are reserved for tools of Patchboard's APIs: use another name`,
  name_held: ({ name, holder }) => `${name} ${holder}`,
  wire_name_held: ({ name, tool, holder }) => `${name} is the wire name of ${tool}, which ${holder}`,
  held_by_server: () => 'is a tool of this server',
  held_by_server_choose_other: () => 'is a tool of this server: use another name',
  held_by_client: ({ client, tool }) =>
    `belongs to client ${client} of this tenant: use another name, or have that client release it ` +
    `(DELETE ${toolPath(client, tool)}, \`unregister_tools\` on its socket, or the end of its connection)`,
  name_lent: ({ name, holder }) => `a client has registered a tool under the name ${name}: it ${holder}`,
  name_lent_elsewhere: ({ name }) =>
    `a client of another tenant has registered a tool under the name ${name}: use another name`,
  name_not_registrable: () => 'the policy does not let clients register this name',
  device_gone: () => 'the device has disconnected',
  contract_of_devices: ({ devices, tool }) =>
    `device ${devices} of this client offers ${tool} under another contract: use that contract, or have it send ` +
    '`unregister_tools` or disconnect first',
  contract_over_http: ({ client, tool }) =>
    `this client registered ${tool} over HTTP under another contract: use that contract, or release the tool first ` +
    `(DELETE ${toolPath(client, tool)})`,
  upstream_name_taken: ({ name, tool, other }) =>
    `${tool} would be named ${name}, and so is the upstream's tool ${other}: exclude one of them in \`tools\``,
  upstream_name_long: ({ characters, most }) =>
    `with the name of the upstream the name has ${characters} characters: ${most} are allowed`,
  name_similar: ({ other }) =>
    `the name differs from that of the tool ${other} only in case, dots or underscores; choose another`,
  tools_of_client: ({ count }) => `a client may register at most ${count} tools`,
  tools_of_tenant: ({ count }) => `the clients of a tenant may register at most ${count} tools`,
  tool_bytes_of_tenant: ({ bytes }) => `the tools of a tenant may take at most ${bytes} bytes together`,
  risky_names_of_tenant: ({ count }) =>
    `the risk of ${count} names is remembered; an operator must forget one first`,
  spec_timeout_range: ({ most }) => `timeout_ms must be a whole number from 1 to ${most}`,
  description_over_limit: ({ bytes }) => `the description is larger than ${bytes} bytes`,
  metadata_over_limit: ({ bytes }) => `the metadata is larger than ${bytes} bytes as JSON`,
  description_hidden: ({ problem }) => `the description ${problem}`,
  tool_timeout_range: ({ tool, most }) => `timeout of ${tool} must be 1 to ${most} whole milliseconds`,
  tool_reads_and_destroys: ({ tool }) => `${tool} cannot be both readonly and destructive`,
  tool_not_cacheable: ({ tool }) => `${tool} is not readonly, so its results cannot be cached`,
  tool_asks_and_caches: ({ tool }) => `${tool} asks its caller for input, so its results cannot be cached`,
  slot_limit_range: ({ slot }) => `the limit of slot ${slot} must be a whole number from 1`,
  input_schema_of: ({ tool, problem }) => `input schema of ${tool}: ${problem}`,
  output_schema_of: ({ tool, problem }) => `output schema of ${tool}: ${problem}`,
};

/** The route on which a client takes a tool back. */
function toolPath(client: string, tool: string): string {
  return `/internal/clients/${encodeURIComponent(client)}/tools/${encodeURIComponent(tool)}`;
}
