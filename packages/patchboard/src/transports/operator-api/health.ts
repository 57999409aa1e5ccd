import { CALL_STATES, type CallStateName, reason, rfc3339 } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { seesWholeServer, type Principal } from '../../core/access/principal.ts';
import type { Device } from '../../core/devices/device.ts';
import { failure, foreignText } from '../../core/failures.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { sendJson, type Route } from '../shared/routes/routes.ts';
import { COUNT, FLAG, nullable, object, TEXT, TIME } from '../shared/routes/schemas.ts';

const SANDBOX = object({
  provider: { enum: ['bubblewrap', 'seatbelt', 'none'] },
  canary: {
    type: 'object',
    description: 'result of each escape attempt made at the start',
    additionalProperties: { enum: ['held', 'broken'] },
  },
  off: { type: 'boolean', description: 'commands and writes are refused' },
  notice: nullable({ ...TEXT, description: 'what commands can access without a sandbox' }),
});

const healthRoute: Route = {
  method: 'GET',
  url: '/healthz',
  name: 'health',
  api: 'operator',
  summary: 'The process is alive.',
  scope: null,
  responses: {
    200: {
      description: 'alive',
      schema: object({
        status: { const: 'ok' },
        version: TEXT,
        started_at: TIME,
        uptime_ms: COUNT,
        sandbox: nullable(SANDBOX),
      }),
    },
  },
  refusals: [],
  handle: health,
};

function health(context: HttpContext, _request: FastifyRequest, reply: FastifyReply): undefined {
  sendJson(reply, 200, JSON.stringify({ status: 'ok', ...lifeOf(context), sandbox: context.sandbox }));
}

const shortHealthRoute: Route = { ...healthRoute, url: '/health', name: 'healthShort' };

const readyRoute: Route = {
  ...healthRoute,
  url: '/readyz',
  name: 'ready',
  summary: 'The server takes calls; 503 while it shuts down, or while its store accepts no write.',
  responses: { 200: { description: 'ready', schema: object({ status: { const: 'ready' } }) } },
  refusals: ['overloaded', 'storage_unavailable'],
  handle: ready,
};

function ready(context: HttpContext, _request: FastifyRequest, reply: FastifyReply): undefined {
  const isLeaving = context.isLeaving?.() === true;
  if (isLeaving || context.engine.isDraining || context.openStreams.isClosing) {
    sendProblem(reply, failure('overloaded', reason('server_shutting_down')));
    return;
  }
  const problem = context.store.writeProblem();
  if (problem !== null) sendProblem(reply, failure('storage_unavailable', foreignText(problem)));
  else sendJson(reply, 200, '{"status":"ready"}');
}

const statsRoute: Route = {
  method: 'GET',
  url: '/v1/stats',
  name: 'stats',
  api: 'operator',
  summary:
    'How many calls your tenant has in each state, and what is under way now. With the operator token or in local mode and without `X-Tenant-ID`: of all tenants.',
  scope: 'metrics:read',
  responses: {
    200: {
      description: 'counts; may be a moment old',
      schema: object({
        calls: object(Object.fromEntries(CALL_STATES.map((state) => [state, COUNT]))),
        open: COUNT,
        waiting: { ...COUNT, description: 'for a slot to execute in' },
        executing: { ...COUNT, description: 'in this server' },
        approvals: { ...COUNT, description: 'that wait for an operator' },
        tools: { ...COUNT, description: 'that the caller may call' },
        devices: object({
          online: COUNT,
          away: { ...COUNT, description: 'disconnected; their calls wait for them to reconnect' },
          open_calls: { ...COUNT, description: 'that they were sent' },
        }),
        streams: COUNT,
        local_mode: { ...FLAG, description: 'requests without a credential are accepted' },
        version: TEXT,
        started_at: TIME,
        uptime_ms: COUNT,
      }),
    },
  },
  refusals: [],
  handle: stats,
};

async function stats(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { engine, streams } = context;
  const principal = principalOf(request);
  const tenant = countedTenant(principal, request);
  const counts = await callCounts(context, tenant);
  const { open, waitingForSlot, waitingForApproval, executing } = engine.load(tenant);
  const body = {
    calls: Object.fromEntries(CALL_STATES.map((state) => [state, counts[state] ?? 0])),
    open,
    waiting: waitingForSlot,
    executing,
    approvals: waitingForApproval,
    tools: engine.tools(principal).length,
    devices: deviceCounts(engine.devices.of(principal.tenant)),
    streams: tenant === null ? streams.size : streams.sizeOf(tenant),
    local_mode: context.authenticator.isLocal,
    ...lifeOf(context),
  };
  sendJson(reply, 200, JSON.stringify(body));
}

/** Returns null for all tenants. A credential for all tenants may select one with `X-Tenant-ID`. */
function countedTenant(principal: Principal, { headers }: FastifyRequest): string | null {
  return seesWholeServer(principal) && headers['x-tenant-id'] === undefined ? null : principal.tenant;
}

async function callCounts(
  { engine, store }: HttpContext,
  tenant: string | null,
): Promise<Partial<Record<CallStateName, number>>> {
  if (tenant === null) return await store.countByState();
  return { ...(await store.countEnded(tenant)), ...engine.load(tenant).byState };
}

function deviceCounts(devices: readonly Device[]): { online: number; away: number; open_calls: number } {
  const online = devices.filter(({ link }) => link !== null).length;
  const calls = devices.reduce((sum, device) => sum + device.calls.size, 0);
  return { online, away: devices.length - online, open_calls: calls };
}

function lifeOf({ version, startedAt, clock }: HttpContext): {
  version: string;
  started_at: string;
  uptime_ms: number;
} {
  // The wall clock may have been set back since the start.
  const uptime = Math.max(0, Math.round(clock.now() - startedAt));
  return { version, started_at: rfc3339(startedAt), uptime_ms: uptime };
}

export const healthRoutes: readonly Route[] = [healthRoute, shortHealthRoute, readyRoute, statsRoute];
