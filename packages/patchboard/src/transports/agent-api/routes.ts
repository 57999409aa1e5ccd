import type { Route } from '../shared/routes/routes.ts';
import { batchRoute } from './batch.ts';
import { callMetricsRoute } from './call-metrics.ts';
import { callRoutes } from './calls.ts';
import { eventRoutes } from './events.ts';
import { listCallsRoute } from './call-list.ts';
import { invokeRoute } from './invoke.ts';
import { parseRoute } from './parse.ts';
import { promptRoutes } from './prompt.ts';
import { promptLibraryRoutes } from './prompts.ts';
import { refusedCallsRoute } from './refused-calls.ts';
import { replayRoute } from './replay.ts';
import { resourceRoutes } from './resources.ts';
import { runRoutes } from './runs.ts';
import { toolRoutes } from './tools.ts';

/** The routes of agents. */
export const agentRoutes: readonly Route[] = [
  ...toolRoutes,
  invokeRoute,
  batchRoute,
  parseRoute,
  ...promptRoutes,
  listCallsRoute,
  refusedCallsRoute,
  callMetricsRoute,
  ...callRoutes,
  replayRoute,
  ...runRoutes,
  ...eventRoutes,
  ...resourceRoutes,
  ...promptLibraryRoutes,
];
