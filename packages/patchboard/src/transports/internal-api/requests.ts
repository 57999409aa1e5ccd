import { reason, WIRE_LIMITS } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import type { Call } from '../../core/call/call.ts';
import { failure } from '../../core/failures.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { EVENT_TEXT } from '../shared/streams/event-stream.ts';
import { foreignClient, principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { type RequestWith, route, type Route, sendJson } from '../shared/routes/routes.ts';
import { ref } from '../shared/routes/components.ts';
import { COUNT, listOf, object, optional, PEER_ID } from '../shared/routes/schemas.ts';
import { whileConnected } from '../shared/streams/waiting.ts';
import { RequestStream } from './request-stream.ts';
import { toolRequestJson } from './tool-request.ts';

interface ClientQueue {
  readonly tenant: string;
  readonly clientId: string;
}

export const requestsRoute: Route = route({
  method: 'GET',
  url: '/internal/clients/:client_id/requests',
  name: 'clientRequests',
  api: 'internal',
  summary:
    'The calls that a client has to run: an event stream, or with `wait` a long poll. Unacknowledged calls are sent again on reconnect.',
  scope: 'tools:serve',
  params: object({ client_id: PEER_ID }),
  query: optional({
    wait: {
      ...COUNT,
      maximum: WIRE_LIMITS.waitSeconds,
      description: 'seconds; returns as soon as there is a call to run',
    },
  }),
  responses: {
    200: {
      description:
        'server-sent events `tool_request` (data as ToolRequest) and `tool_cancel` (`{tool_call_id, reason}`); with `wait` one JSON response',
      schema: object({ requests: listOf(ref('ToolRequest')) }),
      alternative: { type: 'text/event-stream', schema: EVENT_TEXT },
    },
  },
  refusals: ['permission_denied', 'rate_limited'],
  isStream: true,
  handle: requests,
});

/** Upper bound per client, because each connection gets the whole queue and may leave it unread. */
const MOST_CONNECTIONS = 100;

function requests(
  context: HttpContext,
  request: RequestWith<{ params: { client_id: string }; query: { wait?: number } }>,
  reply: FastifyReply,
): Promise<void> | undefined {
  const { client_id: clientId } = request.params;
  const { wait } = request.query;
  const principal = principalOf(request);
  const foreign = foreignClient(principal, clientId);
  if (foreign !== null) {
    sendProblem(reply, foreign);
    return undefined;
  }
  const queue = { tenant: principal.tenant, clientId };
  if (context.engine.clientQueues.connectionsOf(queue.tenant, clientId) >= MOST_CONNECTIONS) {
    sendProblem(
      reply,
      failure('rate_limited', reason('connections_of_client', { client: clientId, count: MOST_CONNECTIONS })),
    );
    return undefined;
  }
  if (wait !== undefined) return poll(context, reply, queue, wait);
  stream(context, reply, queue);
  return undefined;
}

function stream(context: HttpContext, reply: FastifyReply, queue: ClientQueue): void {
  const { clientQueues } = context.engine;
  const { tenant, clientId } = queue;
  const open = context.streams.open(reply, principalOf(reply.request));
  const connection = new RequestStream(open, (callId) => clientQueues.due(tenant, clientId, callId));
  const detach = clientQueues.attach(tenant, clientId, connection);
  open.onClose(() => detach());
}

async function poll(
  context: HttpContext,
  reply: FastifyReply,
  queue: ClientQueue,
  wait: number,
): Promise<void> {
  const { clientQueues, callsElsewhere } = context.engine;
  await callsElsewhere.collect(queue.tenant, queue.clientId);
  const waiting = clientQueues.unacknowledged(queue.tenant, queue.clientId);
  const found =
    waiting.length > 0 || wait === 0
      ? waiting
      : await whileConnected(context, reply, (signal) => nextRequests(context, queue, wait * 1000, signal));
  sendJson(reply, 200, `{"requests":[${found.map(toolRequestJson).join(',')}]}`);
}

/** Returns the calls that arrive first, in one turn of the event loop; none after a timeout. */
export async function nextRequests(
  context: Pick<HttpContext, 'engine' | 'clock'>,
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
      // True if the calls are being sent; if the client disconnected, they go to its next connection.
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
