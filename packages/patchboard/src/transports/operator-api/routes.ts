import type { Route } from '../shared/routes/routes.ts';
import { approvalRoutes } from './approvals.ts';
import { backupRoute } from './backup.ts';
import { descriptionRoutes } from './description.ts';
import { deviceListRoutes } from './devices.ts';
import { grantRoutes } from './grants.ts';
import { healthRoutes } from './health.ts';
import { keyRoutes } from './keys.ts';
import { ledgerProofRoutes } from './ledger-proof.ts';
import { ledgerRoute } from './ledger.ts';
import { nodesRoute } from './nodes.ts';
import { policyVersionRoutes } from './policy-versions.ts';
import { policyRoutes } from './policy.ts';
import { sessionRoutes } from './session.ts';
import { statsRoute } from './stats.ts';
import { tenantAdminRoutes } from './tenants.ts';
import { traceLedgerRoute } from './trace-ledger.ts';
import { upstreamRoutes } from './upstreams.ts';

/** The routes of operators. */
export const operatorRoutes: readonly Route[] = [
  ...approvalRoutes,
  ...grantRoutes,
  ledgerRoute,
  traceLedgerRoute,
  ...ledgerProofRoutes,
  backupRoute,
  ...keyRoutes,
  ...policyRoutes,
  ...policyVersionRoutes,
  ...tenantAdminRoutes,
  ...sessionRoutes,
  ...deviceListRoutes,
  ...upstreamRoutes,
  nodesRoute,
  ...healthRoutes,
  statsRoute,
  ...descriptionRoutes,
];
