import { reason } from '@patchboard/wire';
import { OPERATOR_NAME, type Principal } from '../../core/access/principal.ts';
import { denied, failure, type Failure } from '../../core/failures.ts';

/** Whether the credential is the operator token or a session opened with it; a key is for one tenant. */
export function isOfEveryTenant({ kind, id }: Principal): boolean {
  return kind === 'operator' && id === OPERATOR_NAME;
}

/** Returns null if the principal is the operator of all tenants. */
export function operatorTokenMissing(principal: Principal): Failure | null {
  if (isOfEveryTenant(principal)) return null;
  return failure('permission_denied', denied(reason('credential_not_operator')));
}
