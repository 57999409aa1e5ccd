import type { Route } from '../shared/routes/routes.ts';
import { inputRequestRoute } from './inputs.ts';
import { registrationRoutes } from './registration.ts';
import { requestsRoute } from './requests.ts';
import { resultRoutes } from './results.ts';

/** The routes of clients that register and run tools. */
export const internalRoutes: readonly Route[] = [
  ...registrationRoutes,
  requestsRoute,
  ...resultRoutes,
  inputRequestRoute,
];
