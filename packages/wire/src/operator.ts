import type { ReasonView } from './reasons/reason.ts';
import type { DecisionView, ToolAnnotations } from './views.ts';

export type EffectName = DecisionView['effect'];

/** One row of `GET /v1/approvals`: a call that waits for approval, with everything that will run. */
export interface ApprovalRequestView {
  readonly tool_call_id: string;
  readonly run_id: string;
  readonly agent_id: string;
  readonly tool_name: string;
  readonly tool_version: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly args: unknown;
  readonly reason: string;
  /** Code and parameters of `reason`; absent in records of an older version. */
  readonly reasons?: readonly ReasonView[];
  readonly rule: string;
  /** Metadata from the hook that required the approval; null if no hook did. */
  readonly meta: Readonly<Record<string, unknown>> | null;
  /** Opaque digest of exactly what is shown. Send it back with the decision. */
  readonly digest: string;
  readonly created_at: string;
  readonly expires_at: string;
}

/** `POST /v1/tool_calls/:id/decision/preview`. */
export interface DecisionPreviewView {
  /** Digest of the call with the given arguments, as its record shows it after approval with them. */
  readonly digest: string;
}

/** A condition on one argument. All given tests must hold. */
export interface PredicateView {
  /** JSON pointer into the arguments. */
  readonly arg: string;
  readonly equals?: unknown;
  readonly prefix?: string;
  readonly glob?: string;
  readonly gt?: number;
  readonly gte?: number;
  readonly lt?: number;
  readonly lte?: number;
}

export type GrantScopeName = 'exact' | 'predicate' | 'tool';

/** A standing approval: matching calls run without another approval. */
export interface GrantView {
  readonly grant_id: string;
  readonly tool_name: string;
  readonly tool_version: string;
  /** Null: applies to every agent of the tenant. */
  readonly agent_id: string | null;
  readonly scope: GrantScopeName;
  readonly args_sha256: string | null;
  readonly when: readonly PredicateView[];
  readonly created_at: string;
  readonly created_by: string;
  /** Null: valid until revoked. */
  readonly expires_at: string | null;
}

export const KEY_KINDS = ['agent', 'client', 'service', 'operator'] as const;

export type KeyKindName = (typeof KEY_KINDS)[number];

export interface KeyView {
  readonly key_id: string;
  readonly tenant_id: string;
  readonly kind: KeyKindName;
  /** Name of the agent, client, service or operator that authenticates with the key. */
  readonly name: string;
  readonly scopes: readonly string[];
  /** The first characters of the secret. */
  readonly hint: string;
  readonly created_at: string;
  readonly created_by: string;
  readonly expires_at: string | null;
  /** To the minute; null: never. Absent if it is not known: for a key that was just revoked, and from servers of earlier versions. */
  readonly last_used_at?: string | null;
}

/** Response to the request that creates a key. Only this response contains the secret, in `key`. */
export interface MintedKeyView extends KeyView {
  readonly key: string;
}

/** `POST /v1/session`. The session cookie set by the response is accepted only together with the proof. */
export interface SessionView {
  readonly expires_in_s: number;
  /** Value of the `X-Session-Proof` header of later requests. */
  readonly proof: string;
}

/** `GET /v1/session`: the principal of the request's credential. */
export interface CurrentSessionView {
  /** `operator`: the operator token, or a session opened with it. `token`: a token of the configured issuer. */
  readonly kind: 'operator' | 'key' | 'token' | 'local';
  readonly name: string;
  /** The only tenant that the credential is for; null: all. */
  readonly tenant: string | null;
  readonly scopes: readonly string[];
  /** When the credential ends: of a session, at the latest when its key expires; null: never. */
  readonly expires_at: string | null;
  /** The key that was sent, or that opened the session. */
  readonly key_id?: string;
  /** Agents and clients see only their own calls. */
  readonly principal_kind: KeyKindName | 'local';
}

/** `POST /v1/session/link`: a single-use link that opens a browser session. The token is in the URL fragment, which browsers do not send. */
export interface LoginLinkView {
  /** Path, query and fragment to append to the server's base URL. */
  readonly url_path: string;
  readonly expires_in_s: number;
}

export const POLICY_WARNING_CODES = [
  'pattern_matches_nothing',
  'agent_without_key',
  'rule_shadowed',
] as const;

export type PolicyWarningCode = (typeof POLICY_WARNING_CODES)[number];

/** A line of a policy that currently has no effect. */
export interface PolicyWarningView {
  readonly code: PolicyWarningCode;
  /** `rule` is the path of the line in the document. Depending on the code: `pattern`, `meant`, `agent`, `by`, `by_pattern`. */
  readonly params: Readonly<Record<string, string>>;
  /** English text made from `code` and `params`. */
  readonly message: string;
}

/** The tools that one pattern of a policy currently matches. */
export interface PatternMatchesView {
  readonly rule: string;
  readonly pattern: string;
  readonly count: number;
  /** The first ten in order of name. */
  readonly tools: readonly string[];
}

/** `POST /v1/policy/check`: a policy checked against the current tools and keys. Warnings do not make a policy invalid. */
export interface PolicyReviewView {
  readonly warnings: readonly PolicyWarningView[];
  readonly matches: readonly PatternMatchesView[];
}

export interface PolicyView extends PolicyReviewView {
  readonly version: number;
  /** Null: the stored policy cannot be parsed, and every call is denied. */
  readonly document: Readonly<Record<string, unknown>> | null;
  /** Null: the policy comes from the config file. */
  readonly changed_at: string | null;
  readonly changed_by: string;
}

/** One version of the policy; version 0 is the policy of the config file. */
export interface PolicyVersionView {
  readonly version: number;
  /** Null: the policy comes from the config file. */
  readonly changed_at: string | null;
  readonly changed_by: string;
}

/** `GET /v1/policy/versions/:version`. */
export interface PolicyVersionDetailView extends PolicyVersionView {
  /** Null: it cannot be parsed. */
  readonly document: Readonly<Record<string, unknown>> | null;
}

export interface PolicyStepView {
  /** Path of the rule in the document, such as `agents.researcher.autoDenyTools[0]`. */
  readonly rule: string;
  readonly effect: EffectName;
  readonly reason: string;
  readonly reasons?: readonly ReasonView[];
}

/** `POST /v1/policy/explain`. */
export interface ExplainView extends PolicyStepView {
  /** Null: the policy document was part of the request. */
  readonly policy_version: number | null;
  /** Whether the tool appears in the agent's tool list. */
  readonly listed: boolean;
  readonly also_matched: readonly PolicyStepView[];
}

export interface LedgerHeadView {
  readonly seq: number;
  readonly hash: string;
}

/** `GET /v1/ledger/verify`. */
export interface LedgerVerdictView {
  readonly ok: boolean;
  /** Number of rows that verify. With `from`, of those after that row. */
  readonly rows: number;
  readonly head: LedgerHeadView | null;
  /** Pass it as `from` to verify only the rows after this head. Null if a row does not verify, and from an older server. */
  readonly checkpoint: string | null;
  /** Sequence number of the first row that does not verify; null if all do. */
  readonly seq: number | null;
  readonly problem: string | null;
}

/** Token bucket: capacity `burst`, refilled at `per_second`. */
export interface TenantRateView {
  readonly burst: number;
  readonly per_second: number;
}

export interface TenantLimitsView {
  /** Limit on all calls of the tenant. */
  readonly calls?: TenantRateView;
  /** Limits on single tools, by tool name. */
  readonly tools?: Readonly<Record<string, TenantRateView>>;
}

/** `GET /v1/tenants`. */
export interface TenantView {
  readonly tenant_id: string;
  /** Null: any site. */
  readonly sites: readonly string[] | null;
  /** Null: all packs except those that must be named explicitly. */
  readonly packs: readonly string[] | null;
  readonly limits: TenantLimitsView;
  /** Where the tenant was defined. */
  readonly source: 'config' | 'operator';
}
