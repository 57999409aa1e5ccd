import type {
  ApprovalRequestView,
  BatchView,
  CallView,
  DecisionPreviewView,
  DeviceView,
  DryRunView,
  FormattedToolsView,
  LedgerRowView,
  LedgerVerdictView,
  LoginLinkView,
  ParseReportView,
  PromptView,
  ReceiptView,
  StreamEvent,
  ToolDetailView,
  ToolResultView,
  ToolView,
  TraceLedgerView,
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
  get,
  invoke,
  replay,
  wait,
  type CallOptions,
  type DryRunOptions,
  type InvokeOptions,
  type ReplayOptions,
  type WaitOptions,
} from './calls/calls.ts';
import { cancel } from './calls/change-call.ts';
import { record } from './decode/decode.ts';
import { decodeLoginLink } from './decode/operator-views.ts';
import { decodeToolDetail } from './decode/views.ts';
import { events, type EventOptions } from './calls/events.ts';
import { grants, type Grants } from './operator/grants.ts';
import { boundsOf, request, requestOnce, type HttpRequest, type RequestOptions } from './http/http.ts';
import { keys, type Keys } from './operator/keys.ts';
import { ledgerExport, ledgerVerify } from './operator/ledger-proof.ts';
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
import { runs, type Runs } from './calls/runs.ts';
import { sessions, type Sessions } from './operator/sessions.ts';
import { tenants, type Tenants } from './operator/tenants.ts';

/**
 * An agent's way to Patchboard, and an operator's. Options are camelCase; results are the wire's own views and keep its snake_case,
 * so that what you log, store or compare is what the server said.
 */
export interface PatchboardClient {
  /** The run that calls join unless they name another. */
  readonly runId: string;
  /** Everything this agent may call. */
  tools(options?: RequestOptions): Promise<ToolView[]>;
  /** One tool, whole. Takes the wire name too. */
  tool(name: string, options?: RequestOptions): Promise<ToolDetailView>;
  /** Everything this agent may call, as a vendor, an MCP client or a prompt wants it: `openai`, `anthropic`, `vcp`, … */
  formatTools(format: string, options?: RequestOptions): Promise<FormattedToolsView>;
  /** What a model's reply holds. Nothing is called. */
  parseReply(protocol: string, text: string, options?: RequestOptions): Promise<ParseReportView>;
  /** Runs what a model's reply asks for and answers with the results to send back, in the same format. */
  runReply(format: string, reply: unknown, options?: RunReplyOptions): Promise<BatchView>;
  /** The prompt that offers the tools a config switches on. */
  prompt(question: PromptQuestion, options?: RequestOptions): Promise<PromptView>;
  /** Results as the next message to the model has them. */
  formatResults(
    protocol: string,
    results: readonly ToolResultView[],
    options?: RequestOptions,
  ): Promise<string>;
  /** Records the call and answers with its receipt; use `wait` for the rest. */
  invoke(name: string, args?: unknown, options?: InvokeOptions): Promise<ReceiptView>;
  get(id: string, options?: RequestOptions): Promise<CallView>;
  /** Until the call has ended, across restarts of the server. */
  wait(id: string, options?: WaitOptions): Promise<CallView>;
  /** `invoke` and `wait` in one. Aborting stops the waiting, not the call: that is what `cancel` is for. */
  call(name: string, args?: unknown, options?: CallOptions): Promise<CallView>;
  /** What would happen, without anything happening. */
  dryRun(name: string, args?: unknown, options?: DryRunOptions): Promise<DryRunView>;
  /** Stops the work. Throws `conflict` when the call is over already. */
  cancel(id: string, options?: RequestOptions): Promise<CallView>;
  /** A new call like an old one, with other arguments if given. */
  replay(id: string, args?: unknown, options?: ReplayOptions): Promise<ReceiptView>;
  /** Newest first. */
  calls(filter?: CallsFilter): Pages<CallView>;
  events(options?: EventOptions): AsyncIterableIterator<StreamEvent>;
  readonly runs: Runs;
  ledger(filter?: LedgerFilter): Pages<LedgerRowView>;
  /** Every call of a trace, refused ones too, oldest first. */
  traceLedger(traceId: string, options?: RequestOptions): Pages<TraceLedgerView>;
  /** Whether every link of the whole chain holds. A chain that does not is an answer, not an error. */
  ledgerVerify(options?: RequestOptions): Promise<LedgerVerdictView>;
  /** Every row of the tenant as a line of JSON, and the head last. Throws if it breaks off. */
  ledgerExport(options?: RequestOptions): AsyncIterableIterator<string>;
  /** Calls that wait for an operator, newest first. */
  approvals(filter?: ApprovalsFilter): Pages<ApprovalRequestView>;
  /** An operator's word on a call that waits. Throws `conflict` when it no longer does, or is not what was shown. */
  decide(id: string, decision: Decision): Promise<CallView>;
  /** The digest that a call which waits has with other arguments. Nothing is recorded. */
  previewDecision(id: string, args: unknown, options?: RequestOptions): Promise<DecisionPreviewView>;
  readonly grants: Grants;
  /** Devices that are connected now, newest first. */
  devices(filter?: DevicesFilter): Pages<DeviceView>;
  readonly keys: Keys;
  readonly policy: Policy;
  readonly sessions: Sessions;
  readonly tenants: Tenants;
  /** Signs one browser in as operator. Only the operator token is good for it. */
  loginLink(options?: RequestOptions): Promise<LoginLinkView>;
  stats(options?: RequestOptions): Promise<Readonly<Record<string, unknown>>>;
  /** Asks once and does not try again: a probe should tell what is, now. */
  health(options?: RequestOptions): Promise<Readonly<Record<string, unknown>>>;
  /** The other side: lending tools over HTTP. */
  provider(clientId: string): Provider;
}

/** Opens nothing by itself: the first request is yours. */
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
    wait: (id, given = {}) => wait(settings, id, given),
    call: (name, args, given = {}) => call(settings, name, args, given),
    dryRun: (name, args, given = {}) => dryRun(settings, name, args, given),
    cancel: (id, given = {}) => cancel(settings, id, given),
    replay: (id, args, given = {}) => replay(settings, id, args, given),
    calls: (filter = {}) => calls(settings, filter),
    events: (given = {}) => events(settings, given),
    runs: runs(settings),
    ledger: (filter = {}) => ledger(settings, filter),
    traceLedger: (traceId, given = {}) => traceLedger(settings, traceId, given),
    ledgerVerify: (given = {}) => ledgerVerify(settings, given),
    ledgerExport: (given = {}) => ledgerExport(settings, given),
    approvals: (filter = {}) => approvals(settings, filter),
    decide: (id, decision) => decide(settings, id, decision),
    previewDecision: (id, args, given = {}) => previewDecision(settings, id, args, given),
    grants: grants(settings),
    devices: (filter = {}) => devices(settings, filter),
    keys: keys(settings),
    policy: policy(settings),
    sessions: sessions(settings),
    tenants: tenants(settings),
    // Not repeated: every answer is a credential that nobody would use.
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
