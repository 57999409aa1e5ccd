import type { TenantStatsView } from '@patchboard/wire';
import { computed, type ComputedRef } from 'vue';
import { useApprovals, useStats } from './queries.ts';
import { may } from './session.ts';

const NONE: TenantStatsView = { open: 0, approvals: 0, devices: 0, changed_tools: 0 };

/** What needs attention in the tenant. A key that may decide, but not read the counts, has the approvals counted from their list. */
export function useTenantStats(): ComputedRef<TenantStatsView> {
  const { data: stats } = useStats();
  const { data: approvals } = useApprovals(() => !may('readStats'));
  return computed(() => {
    if (may('readStats')) return (stats.value?.['of_tenant'] as TenantStatsView | undefined) ?? NONE;
    return { ...NONE, approvals: approvals.value?.length ?? 0 };
  });
}
