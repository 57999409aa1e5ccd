import type { Route } from '../shared/routes.ts';
import { descriptionRoutes } from './description.ts';
import { healthRoutes } from './health.ts';
import { ledgerRoute } from './ledger.ts';

/** For those who watch. */
export const operatorRoutes: readonly Route[] = [ledgerRoute, ...healthRoutes, ...descriptionRoutes];
