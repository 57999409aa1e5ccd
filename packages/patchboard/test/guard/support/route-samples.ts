import type { Route } from '../../../src/transports/shared/routes/routes.ts';

/** Values for path parameters, and for bodies that contain them. */
export interface Ids {
  readonly call: string;
  readonly run: string;
  readonly key: string;
  readonly grant: string;
  readonly client: string;
  readonly tool: string;
  readonly digest: string;
  readonly token: string;
}

/** Well-formed ids that do not exist. */
export const UNKNOWN: Ids = {
  call: 'tc_00000000000000000000000000',
  run: 'run_00000000000000000000000000',
  key: 'key_00000000000000000000000000',
  grant: 'gr_00000000000000000000000000',
  client: 'nobody',
  tool: 'no.such.tool',
  digest: '0'.repeat(64),
  // A login token: a wrong operator token would be rate limited.
  token: 'ot_unknown',
};

interface Sample {
  /** The kind of `:id`. */
  readonly id?: 'call' | 'run' | 'key' | 'grant';
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: (ids: Ids) => unknown;
  /** The status past the guard if the id does not exist. */
  readonly past: readonly [status: number, code: string | null];
}

/** The required headers of the tenant API. */
const OCCASION = { 'x-tenant-id': 'default', 'x-site-id': 'site-a', 'x-trace-id': 'trace-a' };

/** One request per route that would do something. A route that is missing here fails the test. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  listTools: { past: [200, null] },
  getTool: { past: [404, 'tool_not_found'] },
  invokeTool: { past: [404, 'tool_not_found'], body: ({ run }) => ({ run_id: run, args: { n: 1 } }) },
  runReply: {
    past: [200, null],
    body: ({ run }) => ({ format: 'vcp', reply: 'nothing to call', run_id: run }),
  },
  writePrompt: { past: [200, null], body: () => ({ config: { enabled: true } }) },
  formatResults: { past: [200, null], body: () => ({ protocol: 'vcp', results: [] }) },
  parseReply: { past: [200, null], body: () => ({ protocol: 'vcp', text: 'nothing to call' }) },
  listCalls: { past: [200, null] },
  listRefusedCalls: { past: [200, null] },
  callMetrics: { past: [200, null] },
  getCall: { id: 'call', past: [404, 'call_not_found'] },
  waitForCall: { id: 'call', past: [404, 'call_not_found'], body: () => ({ timeout_ms: 0 }) },
  giveInput: { id: 'call', past: [404, 'call_not_found'], body: () => ({ id: 'in_1', content: {} }) },
  cancelCall: { id: 'call', past: [404, 'call_not_found'], body: () => ({}) },
  replayCall: { id: 'call', past: [404, 'call_not_found'], body: () => ({ args: { n: 2 } }) },
  createRun: { past: [200, null], body: () => ({ run_id: 'run_sample' }) },
  listRuns: { past: [200, null] },
  getRun: { id: 'run', past: [404, 'run_not_found'] },
  cancelRun: { id: 'run', past: [404, 'run_not_found'], body: () => ({}) },
  callEvents: { id: 'call', past: [404, 'call_not_found'] },
  allEvents: { past: [200, null] },
  listResources: { past: [200, null] },
  listResourceTemplates: { past: [200, null] },
  mcp: { past: [200, null], body: () => ({ jsonrpc: '2.0', id: 1, method: 'ping' }) },
  mcpStream: { past: [405, 'method_not_allowed'] },
  mcpEndSession: { past: [405, 'method_not_allowed'] },
  readResource: { past: [404, 'resource_not_found'], query: 'uri=patchboard%3A%2F%2Ftools%2Fno.such.tool' },
  listPrompts: { past: [200, null] },
  getPrompt: { past: [404, 'prompt_not_found'], body: () => ({ arguments: {} }) },
  completeArgument: {
    past: [200, null],
    body: () => ({ uri_template: 'patchboard://calls/{tool_call_id}', name: 'tool_call_id', value: 'tc_' }),
  },
  registerTools: {
    past: [200, null],
    body: ({ client }) => ({
      client_id: client,
      tools: [{ name: 'sample.lent', schema: { type: 'object' } }],
    }),
  },
  unregisterTools: { past: [200, null] },
  unregisterTool: { past: [404, 'tool_not_found'] },
  clientRequests: { past: [200, null], query: 'wait=0' },
  acknowledgeCall: { id: 'call', past: [404, 'call_not_found'], body: () => ({}) },
  requestInput: {
    id: 'call',
    past: [404, 'call_not_found'],
    body: () => ({ key: 'k', message: 'forged?', attempt_token: '1.forged' }),
  },
  reportProgress: { id: 'call', past: [404, 'call_not_found'], body: () => ({ data: 1 }) },
  submitResult: {
    id: 'call',
    past: [404, 'call_not_found'],
    body: () => ({ status: 'SUCCEEDED', result: 'forged' }),
  },
  // This server has no token issuer.
  protectedResource: { past: [404, 'route_not_found'] },
  protectedResourceAtRoot: { past: [404, 'route_not_found'] },
  listTenantTools: { past: [200, null], headers: OCCASION, body: () => ({}) },
  callTenantTool: { past: [200, null], headers: OCCASION, body: ({ tool }) => ({ tool_name: tool }) },
  listTenantToolsShort: { past: [200, null], headers: OCCASION, body: () => ({}) },
  callTenantToolShort: { past: [200, null], headers: OCCASION, body: ({ tool }) => ({ tool_name: tool }) },
  // Without an upgrade: past the guard the response is an error.
  deviceSocket: { past: [400, 'body_invalid'] },
  listCallableTools: { past: [200, null] },
  asyncapi: { past: [200, null] },
  listDevices: { past: [200, null] },
  listUpstreams: { past: [200, null] },
  listNodes: { past: [200, null] },
  // These routes require the operator token itself.
  reloadUpstreams: { past: [403, 'permission_denied'] },
  restartUpstream: { past: [403, 'permission_denied'] },
  acceptContracts: { past: [403, 'permission_denied'], body: () => ({ versions: { 'a.b': 'v' } }) },
  makeTicket: { past: [201, null], body: () => ({}) },
  listApprovals: { past: [200, null] },
  decideCall: {
    id: 'call',
    past: [404, 'call_not_found'],
    body: ({ digest }) => ({ decision: 'allow', digest }),
  },
  previewDecision: { id: 'call', past: [404, 'call_not_found'], body: () => ({ args: {} }) },
  listGrants: { past: [200, null] },
  revokeGrant: { id: 'grant', past: [404, 'grant_not_found'] },
  readLedger: { past: [200, null] },
  readTraceLedger: { past: [200, null], query: 'trace_id=trace-a' },
  verifyLedger: { past: [200, null] },
  exportLedger: { past: [200, null] },
  // This route requires the operator token itself.
  makeBackup: { past: [403, 'permission_denied'] },
  listKeys: { past: [200, null] },
  createKey: { past: [201, null], body: () => ({ kind: 'agent', name: 'made-by-the-table' }) },
  revokeKey: { id: 'key', past: [404, 'key_not_found'] },
  readPolicy: { past: [200, null] },
  listPolicyVersions: { past: [200, null] },
  readPolicyVersion: { past: [404, 'value_not_found'] },
  replacePolicy: { past: [409, 'conflict'], body: () => ({ document: {}, version: 999 }) },
  checkPolicy: { past: [200, null], body: () => ({ document: {} }) },
  explainPolicy: { past: [404, 'tool_not_found'], body: ({ tool }) => ({ tool_name: tool }) },
  listTenants: { past: [200, null] },
  // These routes require the operator token itself.
  replaceTenant: { past: [403, 'permission_denied'], body: () => ({ sites: ['a'] }) },
  forgetTenant: { past: [403, 'permission_denied'] },
  openSession: { past: [401, 'auth_required'], body: ({ token }) => ({ token }) },
  closeSession: { past: [200, null] },
  currentSession: { past: [200, null] },
  // This route requires the operator token itself.
  makeLoginLink: { past: [403, 'permission_denied'] },
  health: { past: [200, null] },
  healthShort: { past: [200, null] },
  ready: { past: [200, null] },
  stats: { past: [200, null] },
  openapi: { past: [200, null] },
  metrics: { past: [200, null] },
  home: { past: [200, null] },
  console: { past: [200, null] },
};

/** A request to the route, about these ids. */
export interface RouteRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export function sampleOf(route: Route): Sample {
  const sample = SAMPLES[route.name];
  if (sample === undefined) throw new Error(`${route.name} is served, but has no row in the table`);
  return sample;
}

export function requestTo(route: Route, ids: Ids): RouteRequest {
  const { id, query, headers = {}, body } = sampleOf(route);
  const path = route.url
    .replace(':id', id === undefined ? '' : ids[id])
    .replace(':name', ids.tool)
    .replace(':version', '999')
    .replace(':tenant_id', 'default')
    .replace(':client_id', ids.client);
  return {
    method: route.method,
    path: query === undefined ? path : `${path}?${query}`,
    headers,
    ...(body === undefined ? {} : { body: body(ids) }),
  };
}
