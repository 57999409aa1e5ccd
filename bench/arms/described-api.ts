// An HTTP API with an OpenAPI description and one operation, which returns the body of its request. It stores nothing.
import { once } from 'node:events';
import process from 'node:process';
import fastify from 'fastify';

const body = {
  content: {
    'application/json': {
      schema: {
        type: 'object',
        properties: { text: { type: 'string', maxLength: 1000 } },
        required: ['text'],
        additionalProperties: false,
      },
    },
  },
};
const DESCRIPTION = {
  openapi: '3.1.0',
  info: { title: 'Benchmark', version: '1.0.0' },
  paths: {
    '/echo': {
      post: {
        operationId: 'echo',
        requestBody: { required: true, ...body },
        responses: { 200: { description: 'The body of the request.', ...body } },
      },
    },
  },
};

const app = fastify();
app.get('/openapi.json', () => DESCRIPTION);
app.post('/echo', ({ body: text }) => text);
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`ready at ${url}\n`);
await once(process, 'SIGTERM');
await app.close();
process.exit(0);
