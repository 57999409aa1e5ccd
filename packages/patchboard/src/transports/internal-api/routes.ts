import type { Route } from '../shared/routes/routes.ts';
import { registrationRoutes } from './registration.ts';
import { requestsRoute } from './requests.ts';
import { resultRoutes } from './results.ts';

/** For clients that lend tools and run them. */
export const internalRoutes: readonly Route[] = [...registrationRoutes, requestsRoute, ...resultRoutes];
