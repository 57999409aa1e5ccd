// A client tool: registers it, receives requests as they arrive, and submits results.
//
//   node examples/lend-a-tool.ts            # in one terminal
//   npx patchboard call text.slug title='Ein Döner, bitte!'

import { createClient, type ProvidedTool, type Submission } from '@patchboard/client';

const SLUG: ProvidedTool = {
  name: 'text.slug',
  description: 'Turns a title into the last part of a web address.',
  schema: {
    type: 'object',
    properties: { title: { type: 'string', minLength: 1, maxLength: 500 } },
    required: ['title'],
    additionalProperties: false,
  },
  outputSchema: { type: 'object', properties: { slug: { type: 'string' } }, required: ['slug'] },
  timeoutMs: 10_000,
  annotations: { readonly: true, idempotent: true },
};

// The server has validated the arguments against the schema.
function slugOf(args: unknown): Submission {
  const { title } = args as { title: string };
  const plain = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-|-$/g, '');
  if (slug === '') return { status: 'FAILED', error: 'the title has no letter and no digit' };
  return { status: 'SUCCEEDED', result: { slug } };
}

const url = process.env['PATCHBOARD_URL'] ?? 'http://127.0.0.1:8080';
let left = Number(process.env['CALLS'] ?? Infinity); // number of calls to run before exit
const provider = createClient({ url }).provider('slug-maker');

const { rejected } = await provider.register([SLUG]);
for (const { name, reason } of rejected) throw new Error(`${name} was rejected: ${reason}`);
console.log(`lending ${SLUG.name} at ${url}`);

// The stream reconnects automatically and repeats requests that have no result yet.
for await (const { tool_call_id: id, args, attempt_token: attemptToken } of provider.requests()) {
  await provider.ack(id, { attemptToken });
  const { status } = await provider.submit(id, slugOf(args), { attemptToken });
  console.log(id, status);
  left -= 1;
  if (left <= 0) break;
}
await provider.unregister();
