import { reason } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { noSuchCall } from '../../core/steps/calls.ts';
import { failure } from '../../core/failures.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { acceptsInputOf, idempotencyKeyOf, traceOf, waitSecondsOf } from '../shared/routes/request-hints.ts';
import { idOf, type IdRequest, type RequestWith, route, type Route } from '../shared/routes/routes.ts';
import { ANY, ID_PARAMS, optional, PEER_ID } from '../shared/routes/schemas.ts';
import { invokeRoute, sendSubmitted } from './invoke.ts';

const { query: _noDryRun, ...asInvoke } = invokeRoute;

export const replayRoute: Route = route({
  ...asInvoke,
  url: '/v1/tool_calls/:id/replay',
  name: 'replayCall',
  summary:
    'Call the same tool again, with the same or other arguments. The new call refers to the old one in `replay_of`.',
  params: ID_PARAMS,
  body: optional({
    args: { ...ANY, description: 'default: those of the old call' },
    run_id: { ...PEER_ID, description: "default: the run of the old call, which is its own agent's" },
  }),
  refusals: ['call_not_found', ...invokeRoute.refusals],
  handle: replay,
});

async function replay(
  context: HttpContext,
  request: IdRequest & RequestWith<{ body: { args?: unknown; run_id?: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const id = idOf(request);
  const principal = principalOf(request);
  const { args, run_id: runId } = request.body ?? {};
  const old = await context.engine.calls.findReadable(principal, id);
  if (old === undefined) {
    sendProblem(reply, noSuchCall(id));
    return;
  }
  if (args === undefined && old.argsRedacted) {
    sendProblem(reply, failure('conflict', reason('call_secrets_removed')));
    return;
  }
  const submitted = await context.engine.submit(
    {
      toolName: old.toolName,
      runId: runId ?? old.runId,
      args: args === undefined ? (JSON.parse(old.argsJson) as unknown) : args,
      target: old.target,
      idempotencyKey: idempotencyKeyOf(request.headers),
      acceptsInput: acceptsInputOf(request.headers),
      ...traceOf(request.headers),
      replayOf: old.id,
    },
    principal,
  );
  await sendSubmitted(
    context,
    { reply, principal, waitSeconds: waitSecondsOf(request.headers) ?? 0 },
    submitted,
  );
}
