import type { SessionBook } from './authenticator.ts';
import type { GrantOffice } from './grant-office.ts';
import type { KeyOffice } from './key-office.ts';
import type { PolicyOffice } from './policy-office.ts';
import type { TenantOffice } from './tenant-office.ts';

/** What operators manage besides calls. */
export interface Offices {
  readonly keys: KeyOffice;
  readonly grants: GrantOffice;
  readonly policies: PolicyOffice;
  readonly tenants: TenantOffice;
  readonly sessions: SessionBook;
}
