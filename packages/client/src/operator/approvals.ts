import type {
  ApprovalRequestView,
  CallView,
  DecisionPreviewView,
  GrantScopeName,
  PredicateView,
} from '@patchboard/wire';
import { callPath } from '../calls/call-record.ts';
import { changeCall } from '../calls/change-call.ts';
import { decodeApprovalRequest, decodeDecisionPreview } from '../decode/operator-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { pages, type Pages } from '../http/pages.ts';

export interface ApprovalsFilter extends RequestOptions {
  /** Rows per page. Default 50, at most 200. */
  readonly limit?: number;
}

/** A standing approval to create together with the decision. */
export interface GrantOptions {
  readonly scope: GrantScopeName;
  /** Conditions on the arguments, for scope `predicate`. */
  readonly when?: readonly PredicateView[];
  /** Default true. False: applies to every agent of the tenant. */
  readonly thisAgentOnly?: boolean;
  /** Default: valid until revoked. */
  readonly lifetimeSeconds?: number;
}

export interface Decision extends RequestOptions {
  readonly decision: 'allow' | 'deny';
  /** The digest from `approvals`. The decision applies only to a call with this digest. */
  readonly digest: string;
  /** Stored in the ledger. The note of a denial is also sent to the model. */
  readonly note?: string;
  /** Arguments that replace those of the call. They must match the tool's schema. */
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
  const isDone = (call: CallView): boolean => hasDecision(call, decision);
  return changeCall(settings, { id, path: 'decision', body, isDone }, decision);
}

/** Returns the digest that a waiting call would have with other arguments, as shown in its record after approval. */
export async function previewDecision(
  settings: Settings,
  id: string,
  args: unknown,
  options: RequestOptions,
): Promise<DecisionPreviewView> {
  const path = `${callPath(id)}/decision/preview`;
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

/** Whether the call has this decision already. Edited arguments change the digest, so the arguments are compared. */
function hasDecision({ approval, args }: CallView, wanted: Decision): boolean {
  if (approval === null || approval.decision !== wanted.decision) return false;
  if ((approval.note ?? '') !== (wanted.note ?? '')) return false;
  return wanted.args === undefined
    ? approval.digest === wanted.digest
    : JSON.stringify(args) === JSON.stringify(wanted.args);
}
