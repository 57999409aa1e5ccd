import { WIRE_LIMITS } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Call } from '../../core/call/call.ts';
import { failure } from '../../core/failures.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { EVENT_TEXT } from '../shared/streams/event-stream.ts';
import { foreignClient, principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { sendJson, type Route } from '../shared/routes/routes.ts';
import { listOf, object, optional, PEER_ID, ref } from '../shared/routes/schemas.ts';
import { whileConnected } from '../shared/streams/waiting.ts';
import { RequestStream } from './request-stream.ts';
import { toolRequestJson } from './tool-request.ts';

interface ClientQueue {
  readonly tenant: string;
  readonly clientId: string;
}

export const requestsRoute: Route = {
  method: 'GET',
  url: '/internal/clients/:client_id/requests',
  name: 'clientRequests',
  api: 'internal',
  summary:
    'What a client is asked to run: a stream, or with `wait` a long poll. What is unanswered is sent again on reconnect.',
  scope: 'tools:serve',
  params: object({ client_id: PEER_ID }),
  query: optional({
    wait: {
      type: 'integer',
      minimum: 0,
      maximum: WIRE_LIMITS.waitSeconds,
      description: 'seconds; answers as soon as there is anything to run',
    },
  }),
  responses: {
    200: {
      description:
        'server-sent events `tool_request` (data as ToolRequest) and `tool_cancel` (`{tool_call_id, reason}`); with `wait` one JSON answer',
      schema: object({ requests: listOf(ref('ToolRequest')) }),
      alternative: { type: 'text/event-stream', schema: EVENT_TEXT },
    },
  },
  refusals: ['permission_denied', 'rate_limited'],
  isStream: true,
  handle: requests,
};

/** Of one client. Each is sent all that waits for it, and may leave a request unread. */
const MOST_CONNECTIONS = 100;

function requests(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> | undefined {
  const { client_id: clientId } = request.params as { client_id: string };
  const { wait } = request.query as { wait?: number };
  const principal = principalOf(request);
  const foreign = foreignClient(principal, clientId);
  if (foreign !== null) {
    sendProblem(reply, foreign);
    return undefined;
  }
  const box = { tenant: principal.tenant, clientId };
  if (context.engine.clientQueues.connectionsOf(box.tenant, clientId) >= MOST_CONNECTIONS) {
    sendProblem(
      reply,
      failure('rate_limited', `client ${clientId} has ${MOST_CONNECTIONS} connections open`),
    );
    return undefined;
  }
  if (wait !== undefined) return poll(context, reply, box, wait);
  stream(context, reply, box);
  return undefined;
}

function stream(context: HttpContext, reply: FastifyReply, box: ClientQueue): void {
  const { clientQueues } = context.engine;
  const { tenant, clientId } = box;
  const open = context.streams.open(reply, principalOf(reply.request));
  const connection = new RequestStream(open, (callId) => clientQueues.due(tenant, clientId, callId));
  const detach = clientQueues.attach(tenant, clientId, connection);
  open.onClose(() => detach());
}

async function poll(
  context: HttpContext,
  reply: FastifyReply,
  box: ClientQueue,
  wait: number,
): Promise<void> {
  const { clientQueues } = context.engine;
  const waiting = clientQueues.unacknowledged(box.tenant, box.clientId);
  const found =
    waiting.length > 0 || wait === 0
      ? waiting
      : await whileConnected(context, reply, (signal) => nextRequests(context, box, wait * 1000, signal));
  sendJson(reply, 200, `{"requests":[${found.map(toolRequestJson).join(',')}]}`);
}

/** Whatever arrives first, with all that arrives in the same turn; nothing when the time is over. */
async function nextRequests(
  context: HttpContext,
  { tenant, clientId }: ClientQueue,
  waitMs: number,
  signal: AbortSignal,
): Promise<Call[]> {
  const arrived: Call[] = [];
  await new Promise<void>((resolve) => {
    let isOver = false;
    const finish = (): void => {
      if (isOver) return;
      isOver = true;
      disarm();
      signal.removeEventListener('abort', finish);
      // What arrived is on its way to the client; if the asker hung up, it goes to the next connection.
      detach(arrived.length > 0 && !signal.aborted);
      resolve();
    };
    const disarm = context.clock.after(waitMs, finish);
    const detach = context.engine.clientQueues.attach(tenant, clientId, {
      deliver: (wanted) => {
        if (arrived.push(wanted) === 1) queueMicrotask(finish);
      },
      withdraw: () => undefined,
    });
    signal.addEventListener('abort', finish);
    if (signal.aborted) finish();
  });
  return arrived;
}
