import type {
  AcceptContractView,
  ApprovalRequestView,
  BatchView,
  CallMetricsView,
  CallView,
  DecisionPreviewView,
  DeviceView,
  DryRunView,
  FormattedToolsView,
  InputResponseBody,
  LedgerRowView,
  LedgerVerdictView,
  LoginLinkView,
  NodesView,
  ParseReportView,
  PromptView,
  ReceiptView,
  RefusedCallView,
  ReloadUpstreamsView,
  StreamEvent,
  ToolDetailView,
  ToolResultView,
  ToolView,
  TraceLedgerView,
  UpstreamView,
} from '@patchboard/wire';
import {
  approvals,
  decide,
  previewDecision,
  type ApprovalsFilter,
  type Decision,
} from './operator/approvals.ts';
import {
  call,
  dryRun,
  invoke,
  replay,
  type CallOptions,
  type DryRunOptions,
  type InvokeOptions,
  type ReplayOptions,
} from './calls/calls.ts';
import { get } from './calls/call-record.ts';
import { respondInput } from './calls/input-requests.ts';
import { wait, type WaitOptions } from './calls/wait.ts';
import { cancel } from './calls/change-call.ts';
import { record } from './decode/decode.ts';
import { decodeLoginLink } from './decode/operator-views.ts';
import { decodeToolDetail } from './decode/views.ts';
import { events, type EventOptions } from './calls/events.ts';
import { grants, type Grants } from './operator/grants.ts';
import { boundsOf, request, requestOnce, type HttpRequest, type RequestOptions } from './http/http.ts';
import { keys, type Keys } from './operator/keys.ts';
import { backup, type BackupDownload } from './operator/backup.ts';
import { ledgerExport, ledgerVerify, type LedgerVerifyOptions } from './operator/ledger-proof.ts';
import { devices, type DevicesFilter } from './operator/devices.ts';
import { calls, ledger, tools, traceLedger, type CallsFilter, type LedgerFilter } from './calls/lists.ts';
import { resolveSettings, type ClientOptions } from './http/options.ts';
import type { Pages } from './http/pages.ts';
import {
  formatResults,
  formatTools,
  parseReply,
  runReply,
  writePrompt,
  type PromptQuestion,
  type RunReplyOptions,
} from './calls/model-replies.ts';
import { policy, type Policy } from './operator/policy.ts';
import { provider, type Provider } from './lending/provider.ts';
import { resources, type Resources } from './calls/resources.ts';
import { runs, type Runs } from './calls/runs.ts';
import {
  callMetrics,
  refusedCalls,
  type CallMetricsOptions,
  type RefusedCallsFilter,
} from './calls/searches.ts';
import { sessions, type Sessions } from './operator/sessions.ts';
import { tenants, type Tenants } from './operator/tenants.ts';
import { nodes } from './operator/nodes.ts';
import { acceptContracts, reloadUpstreams, restartUpstream, upstreams } from './operator/upstreams.ts';

/**
 * The API client for agents and operators. Options are camelCase; results are the JSON of the server, unchanged, in
 * snake_case.
 */
export interface PatchboardClient {
  /** The run of calls that do not name another. */
  readonly runId: string;
  /** Returns all tools that this agent may call. */
  tools(options?: RequestOptions): Promise<ToolView[]>;
  /** Returns one tool with all details. Accepts the wire name too. */
  tool(name: string, options?: RequestOptions): Promise<ToolDetailView>;
  /** Returns the tools that this agent may call in the format of a model vendor, an MCP client or a prompt: `openai`, `anthropic`, `vcp`, … */
  formatTools(format: string, options?: RequestOptions): Promise<FormattedToolsView>;
  /** Parses the tool requests of a model's reply without running them. */
  parseReply(protocol: string, text: string, options?: RequestOptions): Promise<ParseReportView>;
  /** Runs the tool requests of a model's reply and returns the results to send back, in the same format. */
  runReply(format: string, reply: unknown, options?: RunReplyOptions): Promise<BatchView>;
  /** Returns a prompt that describes the tools enabled by a config. */
  prompt(question: PromptQuestion, options?: RequestOptions): Promise<PromptView>;
  /** Formats results as text for the next message to the model. */
  formatResults(
    protocol: string,
    results: readonly ToolResultView[],
    options?: RequestOptions,
  ): Promise<string>;
  /** Records the call and returns its receipt; use `wait` for the result. */
  invoke(name: string, args?: unknown, options?: InvokeOptions): Promise<ReceiptView>;
  get(id: string, options?: RequestOptions): Promise<CallView>;
  /** Responds to an input request of a call of this agent. Throws `conflict` if the request no longer waits, `input_invalid` if the content does not fit. */
  respondInput(id: string, response: InputResponseBody, options?: RequestOptions): Promise<CallView>;
  /** Resolves when the call has ended, even across restarts of the server. */
  wait(id: string, options?: WaitOptions): Promise<CallView>;
  /** `invoke` followed by `wait`. Aborting the signal stops waiting, not the call; use `cancel` to stop the call. */
  call(name: string, args?: unknown, options?: CallOptions): Promise<CallView>;
  /** Validates the arguments and evaluates the policy without recording a call. */
  dryRun(name: string, args?: unknown, options?: DryRunOptions): Promise<DryRunView>;
  /** Cancels the call. Throws `conflict` if it has already ended. */
  cancel(id: string, options?: RequestOptions): Promise<CallView>;
  /** Creates a new call with the tool and arguments of an old one, or with the given arguments. */
  replay(id: string, args?: unknown, options?: ReplayOptions): Promise<ReceiptView>;
  /** Newest first, or as `sort` and `order` say. Throws `body_invalid` for a bad query; its `issues` have the columns. */
  calls(filter?: CallsFilter): Pages<CallView>;
  /** Returns requests that were refused before a call was recorded, newest first. */
  refusedCalls(filter?: RefusedCallsFilter): Pages<RefusedCallView>;
  /** Returns counts and percentiles of the calls that ended, and requests that were refused, by time. */
  callMetrics(options?: CallMetricsOptions): Promise<CallMetricsView>;
  events(options?: EventOptions): AsyncIterableIterator<StreamEvent>;
  readonly runs: Runs;
  /** Resources, resource templates and prompts. */
  readonly resources: Resources;
  ledger(filter?: LedgerFilter): Pages<LedgerRowView>;
  /** Returns every call of a trace, including refused ones, oldest first. */
  traceLedger(traceId: string, options?: RequestOptions): Pages<TraceLedgerView>;
  /** Verifies the hash chain, from the beginning or from a checkpoint. Resolves with `ok: false`, without throwing, if the chain is broken. */
  ledgerVerify(options?: LedgerVerifyOptions): Promise<LedgerVerdictView>;
  /** Yields every row of the tenant as a line of JSON, and the head as the last line. Throws if the response is truncated. */
  ledgerExport(options?: RequestOptions): AsyncIterableIterator<string>;
  /** Makes a consistent copy of the server's store and downloads it. Requires the operator token. */
  backup(options?: RequestOptions): Promise<BackupDownload>;
  /** Returns the calls that wait for approval, newest first. */
  approvals(filter?: ApprovalsFilter): Pages<ApprovalRequestView>;
  /** Approves or denies a call. Throws `conflict` if the call no longer waits for approval or its digest differs. */
  decide(id: string, decision: Decision): Promise<CallView>;
  /** Returns the digest that a waiting call would have with other arguments. Records nothing. */
  previewDecision(id: string, args: unknown, options?: RequestOptions): Promise<DecisionPreviewView>;
  readonly grants: Grants;
  /** Returns the connected devices, newest first. */
  devices(filter?: DevicesFilter): Pages<DeviceView>;
  readonly keys: Keys;
  readonly policy: Policy;
  readonly sessions: Sessions;
  readonly tenants: Tenants;
  /** Returns the MCP servers and HTTP APIs behind the server. */
  upstreams(options?: RequestOptions): Promise<UpstreamView[]>;
  /** The servers that share the store. For the operator token, and for operators of tenant `default`. */
  nodes(options?: RequestOptions): Promise<NodesView>;
  /** Lets the server read its configured upstreams again. Requires the operator token. */
  reloadUpstreams(options?: RequestOptions): Promise<ReloadUpstreamsView>;
  /** Ends the connection of an upstream and connects again. Requires the operator token. */
  restartUpstream(name: string, options?: RequestOptions): Promise<void>;
  /** Accepts these versions, by the name of the tool, as contracts of an upstream. Requires the operator token. */
  acceptContracts(
    name: string,
    versions: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<AcceptContractView>;
  /** Creates a single-use link that signs a browser in as operator. Requires the operator token. */
  loginLink(options?: RequestOptions): Promise<LoginLinkView>;
  stats(options?: RequestOptions): Promise<Readonly<Record<string, unknown>>>;
  /** Sends one request without retries, so that it reports the current state. */
  health(options?: RequestOptions): Promise<Readonly<Record<string, unknown>>>;
  /** Returns an API for a client that registers and runs its own tools over HTTP. */
  provider(clientId: string): Provider;
}

/** Creates a client. It sends no request before a method is called. */
export function createClient(options: ClientOptions): PatchboardClient {
  const settings = resolveSettings(options);
  const read = (path: string): HttpRequest => ({ method: 'GET', path, repeat: 'safe' });
  return {
    runId: settings.runId,
    tools: (given = {}) => tools(settings, given),
    tool: (name, given = {}) =>
      request(settings, read(`/v1/tools/${encodeURIComponent(name)}`), decodeToolDetail, boundsOf(given)),
    formatTools: (format, given = {}) => formatTools(settings, format, given),
    parseReply: (protocol, text, given = {}) => parseReply(settings, { protocol, text }, given),
    runReply: (format, reply, given = {}) => runReply(settings, { format, reply }, given),
    prompt: (question, given = {}) => writePrompt(settings, question, given),
    formatResults: (protocol, results, given = {}) => formatResults(settings, { protocol, results }, given),
    invoke: (name, args, given = {}) => invoke(settings, name, args, given),
    get: (id, given = {}) => get(settings, id, given),
    respondInput: (id, response, given = {}) => respondInput(settings, id, response, given),
    wait: (id, given = {}) => wait(settings, id, given),
    call: (name, args, given = {}) => call(settings, name, args, given),
    dryRun: (name, args, given = {}) => dryRun(settings, name, args, given),
    cancel: (id, given = {}) => cancel(settings, id, given),
    replay: (id, args, given = {}) => replay(settings, id, args, given),
    calls: (filter = {}) => calls(settings, filter),
    refusedCalls: (filter = {}) => refusedCalls(settings, filter),
    callMetrics: (given = {}) => callMetrics(settings, given),
    events: (given = {}) => events(settings, given),
    runs: runs(settings),
    resources: resources(settings),
    ledger: (filter = {}) => ledger(settings, filter),
    traceLedger: (traceId, given = {}) => traceLedger(settings, traceId, given),
    ledgerVerify: (given = {}) => ledgerVerify(settings, given),
    ledgerExport: (given = {}) => ledgerExport(settings, given),
    backup: (given = {}) => backup(settings, given),
    approvals: (filter = {}) => approvals(settings, filter),
    decide: (id, decision) => decide(settings, id, decision),
    previewDecision: (id, args, given = {}) => previewDecision(settings, id, args, given),
    grants: grants(settings),
    devices: (filter = {}) => devices(settings, filter),
    keys: keys(settings),
    policy: policy(settings),
    sessions: sessions(settings),
    tenants: tenants(settings),
    upstreams: (given = {}) => upstreams(settings, given),
    nodes: (given = {}) => nodes(settings, given),
    reloadUpstreams: (given = {}) => reloadUpstreams(settings, given),
    restartUpstream: (name, given = {}) => restartUpstream(settings, name, given),
    acceptContracts: (name, versions, given = {}) => acceptContracts(settings, name, versions, given),
    // Not retried: every response contains a new credential.
    loginLink: (given = {}) =>
      request(
        settings,
        { method: 'POST', path: '/v1/session/link', repeat: 'unsafe' },
        decodeLoginLink,
        boundsOf(given),
      ),
    stats: (given = {}) => request(settings, read('/v1/stats'), record, boundsOf(given)),
    health: (given = {}) => requestOnce(settings, read('/healthz'), record, boundsOf(given)),
    provider: (clientId) => provider(settings, clientId),
  };
}
