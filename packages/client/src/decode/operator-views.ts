import type {
  ApprovalRequestView,
  DecisionPreviewView,
  ExplainView,
  GrantView,
  CurrentSessionView,
  KeyView,
  LedgerHeadView,
  LedgerVerdictView,
  LoginLinkView,
  MintedKeyView,
  PatternMatchesView,
  PolicyReviewView,
  PolicyStepView,
  PolicyVersionDetailView,
  PolicyVersionView,
  PolicyView,
  PolicyWarningView,
  PredicateView,
  SessionView,
  TenantLimitsView,
  TenantRateView,
  TenantView,
} from '@patchboard/wire';
import {
  anything,
  boolean,
  listOf,
  nullable,
  number,
  object,
  optional,
  record,
  string,
  withDefault,
  word,
  type Decoder,
} from './decode.ts';
import { decodeAnnotations, decodeReasons } from './views.ts';

export const decodeApprovalRequest: Decoder<ApprovalRequestView> = object<ApprovalRequestView>({
  tool_call_id: string,
  run_id: string,
  agent_id: string,
  tool_name: string,
  tool_version: withDefault(string, ''),
  description: withDefault(string, ''),
  annotations: withDefault(decodeAnnotations, {}),
  args: anything,
  reason: withDefault(string, ''),
  reasons: decodeReasons,
  rule: withDefault(string, ''),
  meta: nullable(record),
  // Required: a decision is impossible without it.
  digest: string,
  created_at: string,
  expires_at: string,
});

const predicate: Decoder<PredicateView> = object<PredicateView>({
  arg: string,
  equals: optional(anything),
  prefix: optional(string),
  glob: optional(string),
  gt: optional(number),
  gte: optional(number),
  lt: optional(number),
  lte: optional(number),
});

export const decodeGrant: Decoder<GrantView> = object<GrantView>({
  grant_id: string,
  tool_name: string,
  tool_version: withDefault(string, ''),
  agent_id: nullable(string),
  scope: word<GrantView['scope']>(),
  args_sha256: nullable(string),
  when: listOf(predicate),
  created_at: string,
  created_by: withDefault(string, ''),
  expires_at: nullable(string),
});

const keyFields = {
  key_id: string,
  tenant_id: string,
  kind: word<KeyView['kind']>(),
  name: string,
  scopes: listOf(string),
  hint: withDefault(string, ''),
  created_at: string,
  created_by: withDefault(string, ''),
  expires_at: nullable(string),
  // Absent is not never: a server of an earlier version does not know.
  last_used_at: optional(nullable(string)),
};

export const decodeKey: Decoder<KeyView> = object<KeyView>(keyFields);

export const decodeMintedKey: Decoder<MintedKeyView> = object<MintedKeyView>({ ...keyFields, key: string });

export const decodeLoginLink: Decoder<LoginLinkView> = object<LoginLinkView>({
  url_path: string,
  expires_in_s: number,
});

export const decodeSession: Decoder<SessionView> = object<SessionView>({
  expires_in_s: number,
  proof: string,
});

export const decodeCurrentSession: Decoder<CurrentSessionView> = object<CurrentSessionView>({
  kind: word<CurrentSessionView['kind']>(),
  name: string,
  tenant: nullable(string),
  scopes: listOf(string),
  expires_at: nullable(string),
  key_id: optional(string),
  principal_kind: word<CurrentSessionView['principal_kind']>(),
});

const reviewFields = {
  warnings: listOf(
    object<PolicyWarningView>({
      code: word<PolicyWarningView['code']>(),
      params: record as Decoder<PolicyWarningView['params']>,
      message: withDefault(string, ''),
    }),
  ),
  matches: listOf(
    object<PatternMatchesView>({ rule: string, pattern: string, count: number, tools: listOf(string) }),
  ),
};

export const decodeDecisionPreview: Decoder<DecisionPreviewView> = object<DecisionPreviewView>({
  digest: string,
});

export const decodePolicyReview: Decoder<PolicyReviewView> = object<PolicyReviewView>(reviewFields);

export const decodePolicy: Decoder<PolicyView> = object<PolicyView>({
  ...reviewFields,
  version: number,
  document: nullable(record),
  changed_at: nullable(string),
  changed_by: withDefault(string, ''),
});

const versionFields = { version: number, changed_at: nullable(string), changed_by: withDefault(string, '') };

export const decodePolicyVersion: Decoder<PolicyVersionView> = object<PolicyVersionView>(versionFields);

export const decodePolicyVersionDetail: Decoder<PolicyVersionDetailView> = object<PolicyVersionDetailView>({
  ...versionFields,
  document: nullable(record),
});

const stepFields = {
  rule: string,
  effect: word<PolicyStepView['effect']>(),
  reason: withDefault(string, ''),
  reasons: decodeReasons,
};

export const decodeExplained: Decoder<ExplainView> = object<ExplainView>({
  ...stepFields,
  policy_version: nullable(number),
  listed: boolean,
  also_matched: listOf(object<PolicyStepView>(stepFields)),
});

export const decodeVerdict: Decoder<LedgerVerdictView> = object<LedgerVerdictView>({
  ok: boolean,
  rows: number,
  head: nullable(object<LedgerHeadView>({ seq: number, hash: string })),
  checkpoint: nullable(string),
  seq: nullable(number),
  problem: nullable(string),
});

const rate = object<TenantRateView>({ burst: number, per_second: number });

export const decodeTenant: Decoder<TenantView> = object<TenantView>({
  tenant_id: string,
  sites: nullable(listOf(string)),
  packs: nullable(listOf(string)),
  limits: object<TenantLimitsView>({
    calls: optional(rate),
    tools: optional(record as Decoder<Readonly<Record<string, TenantRateView>>>),
  }),
  source: word<TenantView['source']>(),
});

export const decodeForgottenTenant: Decoder<{ readonly tenant_id: string }> = object<{
  readonly tenant_id: string;
}>({ tenant_id: string });
