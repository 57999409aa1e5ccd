import type { Route } from '../shared/routes/routes.ts';
import { callRoute } from './call.ts';
import { listRoute } from './list.ts';

/** For services of one tenant and site that call tools for an AI. Served with and without `/api`. */
export const tenantRoutes: readonly Route[] = [
  listRoute('/api', 'listTenantTools'),
  callRoute('/api', 'callTenantTool'),
  listRoute('', 'listTenantToolsShort'),
  callRoute('', 'callTenantToolShort'),
];
