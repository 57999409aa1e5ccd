import { reason, rfc3339, type NodesView, type NodeView } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEFAULT_TENANT, seesWholeServer } from '../../core/access/principal.ts';
import { denied, failure } from '../../core/failures.ts';
import { haveSameConfig, NODE_STATES, type NodeStatus } from '../../core/nodes.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { sendJson, type Route } from '../shared/routes/routes.ts';
import { COUNT, FLAG, listOf, nullable, object, TEXT, TIME } from '../shared/routes/schemas.ts';

const NODE = object({
  writer: { ...COUNT, description: 'number of its writer, which a later node may take after it' },
  epoch: { ...COUNT, description: 'grows with each node that takes the writer' },
  is_self: { ...FLAG, description: 'the node that responds' },
  state: { enum: [...NODE_STATES], description: '`free`: no node holds the writer' },
  holder: { ...nullable(TEXT), description: 'host and process' },
  url: nullable(TEXT),
  version: nullable(TEXT),
  fingerprint: { ...nullable(TEXT), description: 'of configuration, packs and hooks; null on a single node' },
  room: { ...COUNT, description: 'how many more calls it can run now' },
  calls: { ...COUNT, description: 'open calls that it holds' },
  last_beat_ms: {
    ...nullable(COUNT),
    description: 'since the responding node saw its last heartbeat; null if it has none',
  },
  started_at: nullable(TIME),
  took_over: {
    ...nullable(object({ writer: COUNT, at: TIME, calls: COUNT })),
    description: 'the last node whose calls it took over',
  },
});

export const nodesRoute: Route = {
  method: 'GET',
  url: '/v1/nodes',
  name: 'listNodes',
  api: 'operator',
  summary:
    'The servers that share the store; on SQLite this one. For the operator token, and for credentials of tenant `default`.',
  scope: 'metrics:read',
  responses: {
    200: {
      description: 'in order of their writers; free writers last held by a node that is gone included',
      schema: object({
        nodes: listOf(NODE),
        same_config: { ...FLAG, description: 'whether all running nodes have the same fingerprint' },
      }),
    },
  },
  refusals: ['permission_denied', 'storage_unavailable'],
  handle: listNodes,
};

async function listNodes(
  { nodes }: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const principal = principalOf(request);
  if (principal.tenant !== DEFAULT_TENANT && !seesWholeServer(principal))
    return sendProblem(reply, failure('permission_denied', denied(reason('credential_not_operator'))));
  sendJson(reply, 200, JSON.stringify(nodesView(await nodes.list())));
}

function nodesView(nodes: readonly NodeStatus[]): NodesView {
  return { nodes: nodes.map(nodeView), same_config: haveSameConfig(nodes) };
}

function nodeView(node: NodeStatus): NodeView {
  const { writer, epoch, state, holder, url, version, fingerprint, room, calls, startedAt, tookOver } = node;
  return {
    writer,
    epoch,
    is_self: node.isSelf,
    state,
    holder,
    url,
    version,
    fingerprint,
    room,
    calls,
    last_beat_ms: node.lastBeatMs === null ? null : Math.round(node.lastBeatMs),
    started_at: startedAt === null ? null : rfc3339(startedAt),
    took_over:
      tookOver === null ? null : { writer: tookOver.from, at: rfc3339(tookOver.at), calls: tookOver.calls },
  };
}
