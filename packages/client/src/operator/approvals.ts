import type {
  ApprovalRequestView,
  CallView,
  DecisionPreviewView,
  GrantScopeName,
  PredicateView,
} from '@patchboard/wire';
import { changeCall } from '../calls/change-call.ts';
import { decodeApprovalRequest, decodeDecisionPreview } from '../decode/operator-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { pages, type Pages } from '../http/pages.ts';

export interface ApprovalsFilter extends RequestOptions {
  /** Rows per page. Default 50, at most 200. */
  readonly limit?: number;
}

/** "Don't ask again." */
export interface GrantOptions {
  readonly scope: GrantScopeName;
  /** For scope `predicate`. */
  readonly when?: readonly PredicateView[];
  /** Default true; false is for every agent of the tenant. */
  readonly thisAgentOnly?: boolean;
  /** Default: until it is revoked. */
  readonly lifetimeSeconds?: number;
}

export interface Decision extends RequestOptions {
  readonly decision: 'allow' | 'deny';
  /** As `approvals` showed it: a decision is about exactly that and nothing else. */
  readonly digest: string;
  /** Kept in the ledger; of a denial it reaches the model. */
  readonly note?: string;
  /** Run these instead. They must fit the tool's schema. */
  readonly args?: unknown;
  readonly grant?: GrantOptions;
}

export function approvals(settings: Settings, filter: ApprovalsFilter): Pages<ApprovalRequestView> {
  const source = {
    path: '/v1/approvals',
    plural: 'approvals',
    query: { limit: filter.limit },
    decode: decodeApprovalRequest,
  };
  return pages(settings, source, filter);
}

export async function decide(settings: Settings, id: string, decision: Decision): Promise<CallView> {
  const body = bodyOf(decision);
  const isDone = (call: CallView): boolean => standsAs(call, decision);
  return changeCall(settings, { id, path: 'decision', body, isDone }, decision);
}

/** The digest that a call which waits has with other arguments: its record shows it once they are allowed. */
export async function previewDecision(
  settings: Settings,
  id: string,
  args: unknown,
  options: RequestOptions,
): Promise<DecisionPreviewView> {
  const path = `/v1/tool_calls/${encodeURIComponent(id)}/decision/preview`;
  const what: HttpRequest = { method: 'POST', path, body: { args }, repeat: 'safe' };
  return await request(settings, what, decodeDecisionPreview, boundsOf(options));
}

function bodyOf({ decision, digest, note, args, grant }: Decision): Record<string, unknown> {
  return {
    decision,
    digest,
    ...(note === undefined ? {} : { note }),
    ...(args === undefined ? {} : { args }),
    ...(grant === undefined
      ? {}
      : {
          grant: {
            scope: grant.scope,
            ...(grant.when === undefined ? {} : { when: grant.when }),
            ...(grant.thisAgentOnly === undefined ? {} : { this_agent_only: grant.thisAgentOnly }),
            ...(grant.lifetimeSeconds === undefined ? {} : { lifetime_s: grant.lifetimeSeconds }),
          },
        }),
  };
}

/** Whether the call was decided as it was to be. Edited arguments have another digest, so those are compared themselves. */
function standsAs({ approval, args }: CallView, wanted: Decision): boolean {
  if (approval === null || approval.decision !== wanted.decision) return false;
  if ((approval.note ?? '') !== (wanted.note ?? '')) return false;
  return wanted.args === undefined
    ? approval.digest === wanted.digest
    : JSON.stringify(args) === JSON.stringify(wanted.args);
}
