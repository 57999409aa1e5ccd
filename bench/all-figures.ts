import type { RunFigure } from './figure.ts';
import { consolePages } from './figures/console.ts';
import { cpuPerRequest } from './figures/cpu-per-request.ts';
import { durableLife } from './figures/p1-durable-life.ts';
import { search } from './figures/p10-search.ts';
import { firstResult } from './figures/p11-first-result.ts';
import { upstreamCalls } from './figures/p12-upstream-calls.ts';
import { wholeLife } from './figures/p2-whole-life.ts';
import { deviceCalls } from './figures/p3-device-calls.ts';
import { mcpCall } from './figures/p4-mcp.ts';
import { sdkCall } from './figures/p5-sdk-call.ts';
import { textProtocol } from './figures/p6-text-protocol.ts';
import { idleDevices } from './figures/p7-idle-devices.ts';
import { storedCalls } from './figures/p8-stored-calls.ts';
import { onPostgres } from './figures/p9-postgres.ts';
import { profile } from './figures/profile.ts';
import { sandboxCosts } from './figures/sandbox.ts';
import { severalNodes } from './figures/several-nodes.ts';

/** In the order in which they are run and reported. */
export const ALL_FIGURES: ReadonlyMap<string, RunFigure> = new Map([
  ['P1', durableLife],
  ['P2', wholeLife],
  ['P3', deviceCalls],
  ['P4', mcpCall],
  ['P5', sdkCall],
  ['P6', textProtocol],
  ['P7', idleDevices],
  ['P8', storedCalls],
  ['P9', onPostgres],
  ['NODES', severalNodes],
  ['CPU', cpuPerRequest],
  ['PROFILE', profile],
  ['SANDBOX', sandboxCosts],
  ['P10', search],
  ['P11', firstResult],
  ['P12', upstreamCalls],
  ['CONSOLE', consolePages],
]);
