import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';

/** Collects the routes registered after it. Returns a function that returns the document, which is generated once. */
export function openApi(app: FastifyInstance, version: string): () => string {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Patchboard',
        description: 'A durable tool server for AI agents.',
        version,
      },
      tags: [
        { name: 'agent', description: 'For agents that call tools.' },
        { name: 'mcp', description: 'For clients of the Model Context Protocol.' },
        { name: 'internal', description: 'For clients that register and run tools.' },
        { name: 'tenant', description: 'For services of one tenant and site that call tools for an AI.' },
        { name: 'device', description: 'For devices that provide tools while they are connected.' },
        { name: 'operator', description: 'For operators.' },
      ],
    },
    refResolver: {
      buildLocalReference: (json, _baseUri, _fragment, index) =>
        typeof json['$id'] === 'string' ? json['$id'] : `schema-${index}`,
    },
  });
  let document: string | null = null;
  return () => (document ??= JSON.stringify(app.swagger()));
}
