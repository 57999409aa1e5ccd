import { CALL_STATES, isTerminal, type TenantStatsView } from '@patchboard/wire';
import type { Principal } from '../../core/access/principal.ts';
import type { StateCounts } from '../../core/ports.ts';
import type { HttpContext } from '../shared/http/context.ts';
import type { Schema } from '../shared/routes/routes.ts';
import { COUNT, object } from '../shared/routes/schemas.ts';
import { shownUpstreams } from './upstreams.ts';

export const TENANT_STATS: Schema = {
  ...object({
    open: { ...COUNT, description: 'calls that have not ended' },
    approvals: { ...COUNT, description: 'calls that wait for an operator' },
    devices: { ...COUNT, description: 'that are connected' },
    changed_tools: {
      ...COUNT,
      description:
        'tools of upstreams whose contract differs from the accepted one; of all upstreams with the operator token',
    },
  }),
  description: 'of the tenant of the request, at all nodes',
};

/** Counts for a page that shows numbers only, so that it need not read the lists of calls, approvals, devices and upstreams. */
export async function tenantStats(context: HttpContext, principal: Principal): Promise<TenantStatsView> {
  const { engine } = context;
  const [calls, devices] = await Promise.all([
    openCounts(context, principal.tenant),
    engine.devices.countOnline(principal.tenant),
  ]);
  const changed = shownUpstreams(engine, principal).flatMap(({ tools }) =>
    tools.filter(({ contractChange }) => contractChange !== null),
  );
  return {
    open: openIn(calls),
    approvals: calls.APPROVAL_REQUIRED ?? 0,
    devices,
    changed_tools: changed.length,
  };
}

/** The open calls of a tenant at all nodes. */
export async function openCounts({ engine, store }: HttpContext, tenant: string): Promise<StateCounts> {
  return store.countOpen === undefined ? engine.load(tenant).byState : await store.countOpen(tenant);
}

export function openIn(counts: StateCounts): number {
  return CALL_STATES.reduce((sum, state) => sum + (isTerminal(state) ? 0 : (counts[state] ?? 0)), 0);
}
