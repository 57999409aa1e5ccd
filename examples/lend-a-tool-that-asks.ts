// A client tool over HTTP that asks its caller to confirm, and a caller that responds.
//
//   node examples/lend-a-tool-that-asks.ts

import { createClient, PatchboardError, type Provider } from '@patchboard/client';

const CONFIRM = {
  message: 'The last train leaves in 5 minutes. Book it?',
  schema: { type: 'object', properties: { book: { type: 'boolean' } }, required: ['book'] },
} as const;

const client = createClient({ url: process.env['PATCHBOARD_URL'] ?? 'http://127.0.0.1:8080' });
const provider = client.provider('ticket-office');
const { rejected } = await provider.register([
  { name: 'train.book', description: 'Books the last train.', schema: { type: 'object' }, timeoutMs: 10_000 },
]);
for (const { name, reason } of rejected) throw new Error(`${name} was rejected: ${reason}`);

/** Runs one call: asks, then submits the result. */
async function serve(office: Provider): Promise<void> {
  for await (const { tool_call_id: id, attempt_token: attemptToken } of office.requests()) {
    await office.ack(id, { attemptToken });
    try {
      // The key names the request: a restarted program sends the same request, which is recorded once.
      const given = await office.requestInput(id, CONFIRM, { attemptToken, key: 'confirm' });
      await office.submit(id, { status: 'SUCCEEDED', result: { given } }, { attemptToken });
    } catch (error) {
      if (!(error instanceof PatchboardError)) throw error;
      // `input_declined`, or `input_unavailable` if this caller cannot be asked.
      const { code, message } = error;
      await office.submit(
        id,
        { status: 'FAILED', error: { code: code as 'input_declined', message } },
        { attemptToken },
      );
    }
    return;
  }
}

const serving = serve(provider);
const { result } = await client.call(
  'train.book',
  {},
  {
    onInputRequest: ({ message }) => {
      console.log(message);
      return { book: true };
    },
  },
);
console.log(result);
await serving;
await provider.unregister();
