import type { Route } from '../shared/routes/routes.ts';
import { callRoute } from './call.ts';
import { listRoute } from './list.ts';

/** The routes of services that call tools for an AI, for one tenant and site. Served with and without `/api`. */
export const tenantRoutes: readonly Route[] = [
  listRoute('/api', 'listTenantTools'),
  callRoute('/api', 'callTenantTool'),
  listRoute('', 'listTenantToolsShort'),
  callRoute('', 'callTenantToolShort'),
];
