import type { Route } from '../shared/routes.ts';
import { callRoutes } from './calls.ts';
import { invokeRoute } from './invoke.ts';

/** For those who call tools. */
export const agentRoutes: readonly Route[] = [invokeRoute, ...callRoutes];
