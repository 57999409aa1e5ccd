// Baseline: the same route in the same framework with the same response, and no engine or store.
import { once } from 'node:events';
import process from 'node:process';
import fastify from 'fastify';
import { nodeClock } from '../../packages/patchboard/src/runtime/node-clock.ts';
import { timeOrderedIds } from '../../packages/patchboard/src/runtime/ids.ts';

const ids = timeOrderedIds(nodeClock);
const app = fastify();
app.post('/v1/tools/:name/invoke', (_request, reply) =>
  reply.code(202).send({
    tool_call_id: ids.next('tc_'),
    status: 'pending',
    message: 'tool call created, use tool_call_id to poll result',
  }),
);
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`ready at ${url}\n`);
await once(process, 'SIGTERM');
await app.close();
process.exit(0);
