import type { CallsFilter, PolicyQuestion } from '@patchboard/client';
import { keepPreviousData, useQuery } from '@tanstack/vue-query';
import {
  isTerminal,
  type ApprovalRequestView,
  type CallView,
  type DecisionPreviewView,
  type DeviceView,
  type ExplainView,
  type GrantView,
  type KeyView,
  type ParseReportView,
  type PolicyReviewView,
  type PolicyView,
  type RunView,
  type TenantView,
  type ToolDetailView,
  type ToolView,
} from '@patchboard/wire';
import { computed, toValue, type ComputedRef, type MaybeRefOrGetter, type Ref } from 'vue';
import { client, sessionNumber, tenant } from './connection.ts';
import { may } from './session.ts';

/** The state of a query. */
export interface QueryState {
  readonly error: Readonly<Ref<Error | null>>;
  readonly isPending: Readonly<Ref<boolean>>;
  /** It failed, and has no data of an earlier request. */
  readonly isLoadingError: Readonly<Ref<boolean>>;
  /** Refetches. */
  refetch(): Promise<unknown>;
}

/** The state of two queries of which a page needs both. It refetches those that failed. */
export function bothOf(first: QueryState, second: QueryState): QueryState {
  const queries = [first, second];
  return {
    error: computed(() => first.error.value ?? second.error.value),
    isPending: computed(() => first.isPending.value || second.isPending.value),
    isLoadingError: computed(() => first.isLoadingError.value || second.isLoadingError.value),
    refetch: () =>
      Promise.all(queries.filter(({ error }) => error.value !== null).map((query) => query.refetch())),
  };
}

export interface QueryResult<T> extends QueryState {
  readonly data: Readonly<Ref<T | undefined>>;
  readonly isSuccess: Readonly<Ref<boolean>>;
}

/** Query keys contain the tenant and the session. */
export function keyOf(...parts: MaybeRefOrGetter<unknown>[]): ComputedRef<readonly unknown[]> {
  return computed(() => [tenant.value, sessionNumber.value, ...parts.map((part) => toValue(part))]);
}

async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const rows: T[] = [];
  for await (const row of pages) rows.push(row);
  return rows;
}

/** `isEnabled`: false: nothing is requested. Default: true. */
export function useTools(isEnabled: MaybeRefOrGetter<boolean> = true): QueryResult<ToolView[]> {
  return useQuery({
    queryKey: keyOf('tools'),
    queryFn: ({ signal }) => client.value.tools({ signal }),
    enabled: () => toValue(isEnabled) && may('listTools'),
  });
}

export function useTool(name: MaybeRefOrGetter<string>): QueryResult<ToolDetailView> {
  return useQuery({
    queryKey: keyOf('tools', name),
    queryFn: ({ signal }) => client.value.tool(toValue(name), { signal }),
    enabled: () => toValue(name) !== '',
  });
}

/** Another node may take over an open call without an event. */
const HOLDER_MS = 5000;

export function useCall(id: MaybeRefOrGetter<string>): QueryResult<CallView> {
  return useQuery({
    queryKey: keyOf('call', id),
    queryFn: ({ signal }) => client.value.get(toValue(id), { signal }),
    enabled: () => toValue(id) !== '',
    refetchInterval: ({ state: { data } }) =>
      data?.node !== undefined && !isTerminal(data.state) ? HOLDER_MS : false,
  });
}

/** The first page of matching calls, newest first. */
export function useRecentCalls(filter: MaybeRefOrGetter<CallsFilter>): QueryResult<readonly CallView[]> {
  return useQuery({
    queryKey: keyOf('recent-calls', filter),
    queryFn: async ({ signal }) => (await client.value.calls({ ...toValue(filter), signal }).page()).items,
    enabled: () => may('readCalls'),
    placeholderData: keepPreviousData,
  });
}

/** The newest runs. */
export function useRecentRuns(): QueryResult<readonly RunView[]> {
  return useQuery({
    queryKey: keyOf('recent-runs'),
    queryFn: async ({ signal }) => (await client.value.runs.list({ limit: 50, signal }).page()).items,
    enabled: () => may('readCalls'),
  });
}

/** `isEnabled`: false: nothing is requested. Default: true. */
export function useApprovals(
  isEnabled: MaybeRefOrGetter<boolean> = true,
): QueryResult<ApprovalRequestView[]> {
  return useQuery({
    queryKey: keyOf('approvals'),
    queryFn: ({ signal }) => all(client.value.approvals({ limit: 200, signal })),
    enabled: () => toValue(isEnabled) && may('decide'),
  });
}

/** The digest of a waiting call with edited arguments; null if nothing was edited. */
export function useEditedDigest(
  edit: MaybeRefOrGetter<{ readonly id: string; readonly args: unknown } | null>,
): QueryResult<DecisionPreviewView> {
  return useQuery({
    queryKey: keyOf('edited-digest', () => JSON.stringify(toValue(edit))),
    queryFn: ({ signal }) => {
      const given = toValue(edit);
      if (given === null) throw new Error('nothing was edited');
      return client.value.previewDecision(given.id, given.args, { signal });
    },
    enabled: () => toValue(edit) !== null,
    gcTime: 10_000,
  });
}

export function useStats(): QueryResult<Readonly<Record<string, unknown>>> {
  return useQuery({
    queryKey: keyOf('stats'),
    queryFn: ({ signal }) => client.value.stats({ signal }),
    enabled: () => may('readStats'),
  });
}

/** Whether requests need a key; true until it is known. */
export function useNeedsKey(): ComputedRef<boolean> {
  const { data } = useStats();
  return computed(() => data.value?.['local_mode'] !== true);
}

export function useDevices(): QueryResult<DeviceView[]> {
  return useQuery({
    queryKey: keyOf('devices'),
    queryFn: ({ signal }) => all(client.value.devices({ limit: 200, signal })),
    enabled: () => may('readDevices'),
  });
}

/** Parses a model's reply. Empty text is not sent. */
export function useParsed(
  asked: MaybeRefOrGetter<{ readonly protocol: string; readonly text: string }>,
): QueryResult<ParseReportView> {
  return useQuery({
    queryKey: keyOf('parse', asked),
    queryFn: ({ signal }) => {
      const { protocol, text } = toValue(asked);
      return client.value.parseReply(protocol, text, { signal });
    },
    enabled: () => toValue(asked).text.trim() !== '',
    placeholderData: keepPreviousData,
    gcTime: 10_000,
  });
}

export function useGrants(): QueryResult<GrantView[]> {
  return useQuery({
    queryKey: keyOf('grants'),
    queryFn: ({ signal }) => all(client.value.grants.list({ signal })),
  });
}

/** The tenants that have settings. */
export function useTenants(): QueryResult<TenantView[]> {
  return useQuery({
    queryKey: keyOf('tenants'),
    queryFn: ({ signal }) => client.value.tenants.list({ signal }),
    enabled: () => may('listTenants'),
  });
}

export function useKeys(): QueryResult<KeyView[]> {
  return useQuery({
    queryKey: keyOf('keys'),
    queryFn: ({ signal }) => all(client.value.keys.list({ signal })),
    enabled: () => may('manageKeys'),
  });
}

export function usePolicy(): QueryResult<PolicyView> {
  return useQuery({
    queryKey: keyOf('policy'),
    queryFn: ({ signal }) => client.value.policy.get({ signal }),
  });
}

/**
 * Checks a policy against the existing tools and keys; null: none to check. An unreadable policy has no
 * result.
 */
export function usePolicyReview(document: MaybeRefOrGetter<unknown>): QueryResult<PolicyReviewView> {
  return useQuery({
    queryKey: keyOf('policy', 'check', document),
    queryFn: ({ signal }) => client.value.policy.check(toValue(document), { signal }),
    enabled: () => toValue(document) !== null,
  });
}

/** Disabled while null. */
export function useExplanation(question: MaybeRefOrGetter<PolicyQuestion | null>): QueryResult<ExplainView> {
  return useQuery({
    queryKey: keyOf('policy', 'explain', question),
    queryFn: ({ signal }) => {
      const asked = toValue(question);
      if (asked === null) throw new Error('nothing was asked');
      return client.value.policy.explain({ ...asked, signal });
    },
    enabled: () => toValue(question) !== null,
    placeholderData: keepPreviousData,
  });
}
