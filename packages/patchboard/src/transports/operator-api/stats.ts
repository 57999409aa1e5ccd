import { CALL_STATES, type ClusterStatsView } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { seesWholeServer, type Principal } from '../../core/access/principal.ts';
import type { Device } from '../../core/devices/device.ts';
import { haveSameConfig, NODE_STATES, type Nodes, type NodeStatus } from '../../core/nodes.ts';
import type { StateCounts } from '../../core/ports.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendJson, type Route } from '../shared/routes/routes.ts';
import { COUNT, FLAG, object, TEXT, TIME } from '../shared/routes/schemas.ts';
import { lifeOf } from './health.ts';
import { openCounts, openIn, TENANT_STATS, tenantStats } from './tenant-stats.ts';

const CLUSTER = {
  ...object({
    node: { ...COUNT, description: 'the `writer` of this node in `GET /v1/nodes`' },
    nodes: object(Object.fromEntries(NODE_STATES.map((state) => [state, COUNT]))),
    open: { ...COUNT, description: 'calls of all nodes that have not ended' },
    executing: { ...COUNT, description: 'calls of all nodes that execute, also those of clients' },
    approvals: { ...COUNT, description: 'calls of all nodes that wait for an operator' },
    same_config: { ...FLAG, description: 'as in `GET /v1/nodes`' },
  }),
  description: 'all nodes of the store; absent if only one can use it',
};

export const statsRoute: Route = {
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
      schema: object(
        {
          calls: {
            ...object(Object.fromEntries(CALL_STATES.map((state) => [state, COUNT]))),
            description: 'of all nodes, as stored',
          },
          open: { ...COUNT, description: 'calls of this node that have not ended' },
          waiting: { ...COUNT, description: 'calls of this node that wait for a slot to execute in' },
          executing: { ...COUNT, description: 'in this node' },
          approvals: { ...COUNT, description: 'calls of this node that wait for an operator' },
          tools: { ...COUNT, description: 'that the caller may call' },
          devices: {
            ...object({
              online: COUNT,
              away: { ...COUNT, description: 'disconnected; their calls wait for them to reconnect' },
              open_calls: { ...COUNT, description: 'that they were sent' },
            }),
            description: 'that are connected to this node',
          },
          streams: { ...COUNT, description: 'of this node' },
          of_tenant: TENANT_STATS,
          cluster: CLUSTER,
          local_mode: { ...FLAG, description: 'requests without a credential are accepted' },
          version: TEXT,
          started_at: TIME,
          uptime_ms: COUNT,
        },
        ['cluster'],
      ),
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
  const cluster = await clusterView(context.nodes, counts);
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
    of_tenant: await tenantStats(context, principal),
    local_mode: context.authenticator.isLocal,
    ...lifeOf(context),
    ...(cluster === null ? {} : { cluster }),
  };
  sendJson(reply, 200, JSON.stringify(body));
}

/** Returns null if only one node can use the store. */
async function clusterView(nodes: Nodes, counts: StateCounts): Promise<ClusterStatsView | null> {
  if (nodes.measures === undefined) return null;
  const list = await nodes.list();
  const inState = (state: NodeStatus['state']): number => list.filter((node) => node.state === state).length;
  return {
    node: list.find(({ isSelf }) => isSelf)?.writer ?? 0,
    nodes: { running: inState('running'), leaving: inState('leaving'), free: inState('free') },
    open: openIn(counts),
    executing: counts.EXECUTING ?? 0,
    approvals: counts.APPROVAL_REQUIRED ?? 0,
    same_config: haveSameConfig(list),
  };
}

/** Returns null for all tenants. A credential for all tenants may select one with `X-Tenant-ID`. */
function countedTenant(principal: Principal, { headers }: FastifyRequest): string | null {
  return seesWholeServer(principal) && headers['x-tenant-id'] === undefined ? null : principal.tenant;
}

async function callCounts(context: HttpContext, tenant: string | null): Promise<StateCounts> {
  const { store } = context;
  if (tenant === null) return await store.countByState();
  return { ...(await store.countEnded(tenant)), ...(await openCounts(context, tenant)) };
}

function deviceCounts(devices: readonly Device[]): { online: number; away: number; open_calls: number } {
  const online = devices.filter(({ link }) => link !== null).length;
  const calls = devices.reduce((sum, device) => sum + device.calls.size, 0);
  return { online, away: devices.length - online, open_calls: calls };
}
