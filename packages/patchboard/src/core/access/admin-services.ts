import type { SessionService } from './authenticator.ts';
import type { GrantService } from './grant-service.ts';
import type { KeyService } from './key-service.ts';
import type { PolicyService } from './policy-service.ts';
import type { TenantService } from './tenant-service.ts';

/** The services behind the operator API, except for calls. */
export interface AdminServices {
  readonly keys: KeyService;
  readonly grants: GrantService;
  readonly policies: PolicyService;
  readonly tenants: TenantService;
  readonly sessions: SessionService;
}
