import { reason } from '@patchboard/wire';
import { denied, failure, type Failure } from '../../core/failures.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { TenantDirectory } from '../../core/access/tenant-directory.ts';

/** Returns null if the site belongs to the tenant. The refusal does not reveal whether another tenant has it. */
export function siteProblem(tenants: TenantDirectory, { tenant }: Principal, siteId: string): Failure | null {
  if (tenants.hasSite(tenant, siteId)) return null;
  return failure('permission_denied', denied(reason('site_unknown', { tenant, site: siteId })));
}
