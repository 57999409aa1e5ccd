import type { ServerTool } from '../../../src/core/tools/server-tool.ts';
import { aServerTool } from '../../support/an-engine.ts';

/** Returns its arguments. */
export const echo: ServerTool = aServerTool({
  name: 'toy.echo',
  description: 'Answers with what it was given',
  annotations: { readonly: true },
  execute: (args) => Promise.resolve({ said: args }),
});

/** Requires approval. */
export const remove: ServerTool = aServerTool({
  name: 'toy.remove',
  description: 'Removes a thing for good',
  annotations: { destructive: true },
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string' }, count: { type: 'integer', maximum: 10 } },
    required: ['path'],
    additionalProperties: false,
  },
  execute: (args) => Promise.resolve({ removed: args }),
});

/** Runs until it is cancelled. */
export const endless: ServerTool = aServerTool({
  name: 'toy.endless',
  description: 'Takes its time',
  // A long time limit, because a page may open slowly on a busy machine.
  timeoutMs: 600_000,
  execute: (_args, context) =>
    new Promise((_resolve, reject) => {
      context.progress({ step: 'begun' });
      context.signal.addEventListener('abort', () => reject(new Error('stopped')));
    }),
});

/** A schema with every kind of field. */
export const shapes: ServerTool = aServerTool({
  name: 'toy.shapes',
  description: 'One of everything',
  inputSchema: {
    type: 'object',
    properties: {
      title: { type: 'string', minLength: 2, description: 'At least two characters' },
      code: { type: 'string', pattern: '^[A-Z]+$' },
      size: { enum: ['small', 'large'] },
      count: { type: 'integer', minimum: 1, default: 3 },
      note: { type: ['string', 'null'] },
      when: { type: 'string', format: 'date' },
      sure: { type: 'boolean' },
      deep: {
        type: 'object',
        properties: { inner: { type: 'object', properties: { leaf: { type: 'string' } } } },
      },
      list: { type: 'array', items: { type: 'string' } },
      either: {
        oneOf: [
          {
            title: 'a point',
            type: 'object',
            properties: { kind: { const: 'point' }, x: { type: 'number' } },
            required: ['kind', 'x'],
          },
          { title: 'a name', type: 'string' },
        ],
      },
    },
    required: ['title'],
    additionalProperties: false,
  },
  execute: (args) => Promise.resolve(args),
});
