import type { DecisionView, ToolAnnotations } from './views.ts';

export type EffectName = DecisionView['effect'];

/** One row of `GET /v1/approvals`: everything that will run, as an operator is shown it. */
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
  readonly rule: string;
  /** What the hook that asks has to say; null without one. */
  readonly meta: Readonly<Record<string, unknown>> | null;
  /** Covers exactly what is shown; goes back with the decision. Opaque text: compare it, do not read it. */
  readonly digest: string;
  readonly created_at: string;
  readonly expires_at: string;
}

/** `POST /v1/tool_calls/:id/decision/preview`. */
export interface DecisionPreviewView {
  /** Of the call with the arguments that were sent, as its record shows it once they are allowed. */
  readonly digest: string;
}

/** A condition on one argument; all tests that are given must hold. */
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

/** What operators need not be asked again. */
export interface GrantView {
  readonly grant_id: string;
  readonly tool_name: string;
  readonly tool_version: string;
  /** Null: for every agent of the tenant. */
  readonly agent_id: string | null;
  readonly scope: GrantScopeName;
  readonly args_sha256: string | null;
  readonly when: readonly PredicateView[];
  readonly created_at: string;
  readonly created_by: string;
  /** Null: until revoked. */
  readonly expires_at: string | null;
}

export const KEY_KINDS = ['agent', 'client', 'service', 'operator'] as const;

export type KeyKindName = (typeof KEY_KINDS)[number];

export interface KeyView {
  readonly key_id: string;
  readonly tenant_id: string;
  readonly kind: KeyKindName;
  /** The agent, client, service or operator that the key stands for. */
  readonly name: string;
  readonly scopes: readonly string[];
  /** The first characters of the secret. */
  readonly hint: string;
  readonly created_at: string;
  readonly created_by: string;
  readonly expires_at: string | null;
}

/** The answer to the request that made the key, and to no other: `key` is the secret. */
export interface MintedKeyView extends KeyView {
  readonly key: string;
}

/** `POST /v1/session`: the cookie that comes along is worth nothing without the proof. */
export interface SessionView {
  readonly expires_in_s: number;
  /** Goes along as `X-Session-Proof`. */
  readonly proof: string;
}

/** `POST /v1/session/link`: opens one browser session of the operator. The token is in the fragment: no server sees it. */
export interface LoginLinkView {
  /** What follows the address under which the server is reached. */
  readonly url_path: string;
  readonly expires_in_s: number;
}

export const POLICY_WARNING_CODES = [
  'pattern_matches_nothing',
  'agent_without_key',
  'rule_shadowed',
] as const;

export type PolicyWarningCode = (typeof POLICY_WARNING_CODES)[number];

/** A line of a policy that has no effect now. */
export interface PolicyWarningView {
  readonly code: PolicyWarningCode;
  /** `rule` is where it stands; the others depend on the code: `pattern`, `meant`, `agent`, `by`, `by_pattern`. */
  readonly params: Readonly<Record<string, string>>;
  /** The same in English. */
  readonly message: string;
}

/** What one pattern of a policy matches now. */
export interface PatternMatchesView {
  readonly rule: string;
  readonly pattern: string;
  readonly count: number;
  /** The first ten, by name. */
  readonly tools: readonly string[];
}

/** `POST /v1/policy/check`: a policy beside the tools and keys that there are. Nothing in it refuses a policy. */
export interface PolicyReviewView {
  readonly warnings: readonly PolicyWarningView[];
  readonly matches: readonly PatternMatchesView[];
}

export interface PolicyView extends PolicyReviewView {
  readonly version: number;
  /** Null: what is kept cannot be read, and nothing is allowed. */
  readonly document: Readonly<Record<string, unknown>> | null;
  /** Null: as the config file gives it. */
  readonly changed_at: string | null;
  readonly changed_by: string;
}

export interface PolicyStepView {
  /** Where it stands in the document, such as `agents.researcher.autoDenyTools[0]`. */
  readonly rule: string;
  readonly effect: EffectName;
  readonly reason: string;
}

/** `POST /v1/policy/explain`. */
export interface ExplainView extends PolicyStepView {
  /** Null: a document that came with the question was asked. */
  readonly policy_version: number | null;
  /** Whether the agent is told of the tool at all. */
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
  /** How many rows hold. */
  readonly rows: number;
  readonly head: LedgerHeadView | null;
  /** Where the first link breaks, and how; null when none does. */
  readonly seq: number | null;
  readonly problem: string | null;
}

export interface TenantRateView {
  /** How many at once. */
  readonly burst: number;
  readonly per_second: number;
}

export interface TenantLimitsView {
  /** All calls of the tenant. */
  readonly calls?: TenantRateView;
  /** Calls of single tools, by name. */
  readonly tools?: Readonly<Record<string, TenantRateView>>;
}

/** `GET /v1/tenants`. */
export interface TenantView {
  readonly tenant_id: string;
  /** Null: any. */
  readonly sites: readonly string[] | null;
  /** Null: all but those that must be named. */
  readonly packs: readonly string[] | null;
  readonly limits: TenantLimitsView;
  /** Who said so. */
  readonly source: 'config' | 'operator';
}
