import type { ServerTool } from '../../../src/core/tools/server-tool.ts';
import { aServerTool } from '../../support/an-engine.ts';

/** Answers with its arguments. */
export const echo: ServerTool = aServerTool({
  name: 'toy.echo',
  description: 'Answers with what it was given',
  annotations: { readonly: true },
  execute: (args) => Promise.resolve({ said: args }),
});

/** Asks before it runs. */
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

/** Ends when it is cancelled, or never. */
export const endless: ServerTool = aServerTool({
  name: 'toy.endless',
  description: 'Takes its time',
  // A page on a busy machine takes longer to open than most tools may take.
  timeoutMs: 600_000,
  execute: (_args, context) =>
    new Promise((_resolve, reject) => {
      context.progress({ step: 'begun' });
      context.signal.addEventListener('abort', () => reject(new Error('stopped')));
    }),
});

/** One of everything a schema can ask for. */
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
