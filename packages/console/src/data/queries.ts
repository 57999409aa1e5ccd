import type { CallsFilter, PolicyQuestion } from '@patchboard/client';
import { keepPreviousData, useQuery } from '@tanstack/vue-query';
import type {
  ApprovalRequestView,
  CallView,
  DecisionPreviewView,
  DeviceView,
  ExplainView,
  GrantView,
  KeyView,
  ParseReportView,
  PolicyReviewView,
  PolicyView,
  TenantView,
  ToolDetailView,
  ToolView,
} from '@patchboard/wire';
import { computed, toValue, type ComputedRef, type MaybeRefOrGetter, type Ref } from 'vue';
import { client, holdsProof, tenant } from './connection.ts';

/** How a question to the server stands. */
export interface Question {
  readonly error: Readonly<Ref<Error | null>>;
  readonly isPending: Readonly<Ref<boolean>>;
  /** Asks again. */
  refetch(): Promise<unknown>;
}

export interface Answer<T> extends Question {
  readonly data: Readonly<Ref<T | undefined>>;
  readonly isSuccess: Readonly<Ref<boolean>>;
}

/** What is known of one tenant is not known of another, nor to everybody. */
export function keyOf(...parts: MaybeRefOrGetter<unknown>[]): ComputedRef<readonly unknown[]> {
  return computed(() => [tenant.value, holdsProof.value, ...parts.map((part) => toValue(part))]);
}

async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const rows: T[] = [];
  for await (const row of pages) rows.push(row);
  return rows;
}

export function useTools(): Answer<ToolView[]> {
  return useQuery({ queryKey: keyOf('tools'), queryFn: ({ signal }) => client.value.tools({ signal }) });
}

export function useTool(name: MaybeRefOrGetter<string>): Answer<ToolDetailView> {
  return useQuery({
    queryKey: keyOf('tools', name),
    queryFn: ({ signal }) => client.value.tool(toValue(name), { signal }),
    enabled: () => toValue(name) !== '',
  });
}

export function useCall(id: MaybeRefOrGetter<string>): Answer<CallView> {
  return useQuery({
    queryKey: keyOf('call', id),
    queryFn: ({ signal }) => client.value.get(toValue(id), { signal }),
    enabled: () => toValue(id) !== '',
  });
}

/** The newest calls that fit, one page of them. */
export function useRecentCalls(filter: MaybeRefOrGetter<CallsFilter>): Answer<readonly CallView[]> {
  return useQuery({
    queryKey: keyOf('recent-calls', filter),
    queryFn: async ({ signal }) => (await client.value.calls({ ...toValue(filter), signal }).page()).items,
    placeholderData: keepPreviousData,
  });
}

export function useApprovals(): Answer<ApprovalRequestView[]> {
  return useQuery({
    queryKey: keyOf('approvals'),
    queryFn: ({ signal }) => all(client.value.approvals({ limit: 200, signal })),
  });
}

/** The digest of a call that waits with other arguments. Null: nothing was edited. */
export function useEditedDigest(
  edit: MaybeRefOrGetter<{ readonly id: string; readonly args: unknown } | null>,
): Answer<DecisionPreviewView> {
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

export function useStats(): Answer<Readonly<Record<string, unknown>>> {
  return useQuery({ queryKey: keyOf('stats'), queryFn: ({ signal }) => client.value.stats({ signal }) });
}

/** Whether a program must send a key. While that is not known, code that is shown sends one. */
export function useNeedsKey(): ComputedRef<boolean> {
  const { data } = useStats();
  return computed(() => data.value?.['local_mode'] !== true);
}

export function useDevices(): Answer<DeviceView[]> {
  return useQuery({
    queryKey: keyOf('devices'),
    queryFn: ({ signal }) => all(client.value.devices({ limit: 200, signal })),
  });
}

/** What a reply of a model holds. Empty text holds nothing. */
export function useParsed(
  asked: MaybeRefOrGetter<{ readonly protocol: string; readonly text: string }>,
): Answer<ParseReportView> {
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

export function useGrants(): Answer<GrantView[]> {
  return useQuery({
    queryKey: keyOf('grants'),
    queryFn: ({ signal }) => all(client.value.grants.list({ signal })),
  });
}

/** Those that something is said of. */
export function useTenants(): Answer<TenantView[]> {
  return useQuery({
    queryKey: keyOf('tenants'),
    queryFn: ({ signal }) => client.value.tenants.list({ signal }),
  });
}

export function useKeys(): Answer<KeyView[]> {
  return useQuery({
    queryKey: keyOf('keys'),
    queryFn: ({ signal }) => all(client.value.keys.list({ signal })),
  });
}

export function usePolicy(): Answer<PolicyView> {
  return useQuery({
    queryKey: keyOf('policy'),
    queryFn: ({ signal }) => client.value.policy.get({ signal }),
  });
}

/** A policy beside the tools and keys that there are; null: there is none to look at. One that cannot be read has no review. */
export function usePolicyReview(document: MaybeRefOrGetter<unknown>): Answer<PolicyReviewView> {
  return useQuery({
    queryKey: keyOf('policy', 'check', document),
    queryFn: ({ signal }) => client.value.policy.check(toValue(document), { signal }),
    enabled: () => toValue(document) !== null,
  });
}

/** Null: there is no question yet. */
export function useExplanation(question: MaybeRefOrGetter<PolicyQuestion | null>): Answer<ExplainView> {
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
