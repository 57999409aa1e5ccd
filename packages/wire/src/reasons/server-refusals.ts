import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** Why a server refuses a request because of its limits, its form, or what the operator has set. */
export interface ServerRefusals {
  readonly bodies_arriving_full: NoParams;
  readonly bodies_held_full: NoParams;
  readonly responses_held_full: NoParams;
  readonly request_took_too_long: NoParams;
  readonly request_not_in_time: NoParams;
  readonly request_not_http: NoParams;
  readonly headers_over_limit: { readonly bytes: number };
  readonly cursor_unknown: NoParams;
  readonly upgrade_needed: NoParams;
  readonly devices_of_tenant: { readonly count: number };
  readonly devices_of_address: { readonly count: number };
  readonly connections_of_client: { readonly client: string; readonly count: number };
  readonly risk_for_operators: NoParams;
  readonly tenant_not_set: { readonly tenant: string };
  readonly upstreams_not_reloadable: NoParams;
  readonly contract_changed_again: { readonly tool: string };
  readonly upstream_unknown: { readonly upstream: string; readonly known: string };
  readonly upstream_tool_unknown: { readonly upstream: string; readonly tool: string };
  readonly pack_unknown: { readonly pack: string; readonly known: string };
  readonly metrics_of_server: NoParams;
  readonly context_differs: { readonly places: readonly ReasonView[] };
  readonly context_member_differs: { readonly member: string; readonly header: string };
  readonly file_unknown: { readonly path: string };
  readonly backup_running: NoParams;
  readonly backup_elsewhere: NoParams;
  readonly backup_no_space: NoParams;
  readonly search_index_unusable: { readonly file: string; readonly problem: string };
}

export const SERVER_REFUSALS: Sentences<ServerRefusals> = {
  bodies_arriving_full: () =>
    'the request bodies that this server is receiving use all the memory that they may; try again later',
  bodies_held_full: () =>
    'the bodies of requests in progress use all the memory of this server that they may; try again later',
  responses_held_full: () =>
    'the responses that clients have not read yet use all the memory that they may; request less, or read faster',
  request_took_too_long: () => 'the request took too long',
  request_not_in_time: () => 'the request did not arrive in time',
  request_not_http: () => 'the request is not valid HTTP',
  headers_over_limit: ({ bytes }) => `the headers are larger than the limit of ${bytes} bytes`,
  cursor_unknown: () => 'this list has returned no such cursor; begin without one',
  upgrade_needed: () => 'this route is a WebSocket: send an upgrade request',
  devices_of_tenant: ({ count }) => `${count} devices of this tenant are connected, which is the limit`,
  devices_of_address: ({ count }) => `${count} devices are connected from this address, which is the limit`,
  connections_of_client: ({ client, count }) =>
    `client ${client} has ${count} connections open, which is the limit`,
  risk_for_operators: () => 'only an operator can forget the risk of a tool',
  upstreams_not_reloadable: () =>
    'the upstreams are set by the program that embeds this server: restart it to change them',
  contract_changed_again: ({ tool }) =>
    `the contract of ${tool} changed again: read the changes again, then accept them`,
  upstream_unknown: ({ upstream, known }) =>
    known === ''
      ? `there is no upstream ${upstream}: none is configured`
      : `there is no upstream ${upstream}; there are: ${known}`,
  upstream_tool_unknown: ({ upstream, tool }) => `the upstream ${upstream} has no tool ${tool}`,
  tenant_not_set: ({ tenant }) => `tenant ${tenant} has no settings that an operator made`,
  pack_unknown: ({ pack, known }) => `body/packs names ${pack}, but there are ${known}`,
  metrics_of_server: () => 'these metrics are of the whole server, and the credential is for one tenant',
  context_differs: ({ places }) => `body and headers disagree: ${places}`,
  context_member_differs: ({ member, header }) => `context/${member} differs from ${header}`,
  file_unknown: ({ path }) => `no such file: ${path}`,
  backup_running: () => 'another backup of this server is being made: try again when it has ended',
  backup_no_space: () =>
    'the disk of the data folder has no space for a second copy of the store, which a backup needs while it is made',
  search_index_unusable: ({ file, problem }) =>
    `the search index ${file} cannot be used (${problem}), so that there are no searches, metrics and counts of runs: let the user of this server read and write it, or move it away, and it is made anew from the store`,
  backup_elsewhere: () =>
    'the store of this server is not a file: back it up with the tools of its database, for PostgreSQL with pg_dump',
};
