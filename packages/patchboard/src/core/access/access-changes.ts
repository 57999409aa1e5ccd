import type { Log } from '../ports.ts';
import type { SharedChanges } from '../shared-changes.ts';
import type { AdminServices } from './admin-services.ts';

/** Applies keys, policies and tenants that other nodes have changed. Grants belong to the engine. */
export function followAccessChanges(
  changes: SharedChanges,
  { keys, policies, tenants }: Pick<AdminServices, 'keys' | 'policies' | 'tenants'>,
  log: Log,
): void {
  changes.onDocument('key', (id, body) => keys.apply(id, body));
  changes.onDocument('local_mode', (_id, body) => keys.applyLocalMode(body !== null));
  changes.onDocument('policy', (id, body) => {
    // Versions of a policy are never deleted.
    const problem = body === null ? null : policies.apply(id, body);
    if (problem !== null) log.error('policy.unreadable', { problem });
  });
  changes.onDocument('tenant', (id, body) => {
    if (!tenants.apply(id, body)) log.error('tenant.unreadable', { tenant_id: id });
  });
}
