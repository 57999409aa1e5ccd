import { reason } from '@patchboard/wire';
import { denied, failure, type Failure } from '../../core/failures.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { TenantDirectory } from '../../core/access/tenant-directory.ts';

/** Null: the site is one of the tenant's. Another tenant's and nobody's are answered alike. */
export function siteProblem(tenants: TenantDirectory, { tenant }: Principal, siteId: string): Failure | null {
  if (tenants.hasSite(tenant, siteId)) return null;
  return failure('permission_denied', denied(reason('site_unknown', { tenant, site: siteId })));
}
