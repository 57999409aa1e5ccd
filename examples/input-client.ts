// A caller with @patchboard/client: the tool asks, the caller responds. The board and its tool run in this process.
//
//   node examples/input-client.ts

import { createClient, DECLINE_INPUT, type OnInputRequest } from '@patchboard/client';
import { createPatchboard, tool } from 'patchboard';
import { z } from 'zod';

const pay = tool({
  name: 'invoice.pay',
  description: 'Pay an invoice',
  parameters: z.object({ euros: z.number() }),
  metadata: { asksInput: true },
  execute: async ({ euros }, context) => {
    const schema = z.object({ account: z.enum(['main', 'savings']) });
    const { account } = await context.requestInput({ message: `Pay ${euros} € from which account?`, schema });
    await context.requestInput({ message: 'Confirm at your bank', url: 'https://bank.example/confirm' });
    return `paid ${euros} € from ${account}`;
  },
});
const board = await createPatchboard({ tools: [pay] });
const { url } = await board.listen({ port: 0 });
const client = createClient({ url });

// A program with a user shows the message with a form made from the schema, or the link.
const onInputRequest: OnInputRequest = ({ message, url: link }) => {
  console.log(link === undefined ? message : `${message}: ${link}`);
  if (message.includes('1000000')) return DECLINE_INPUT;
  return { account: 'main' };
};

const paid = await client.call('invoice.pay', { euros: 12 }, { onInputRequest });
console.log(paid.state, paid.result);
console.log(paid.timeline.map(({ state }) => state).join(' → '));

const declined = await client.call(
  'invoice.pay',
  { euros: 1000000 },
  { onInputRequest, throwOnFailure: false },
);
console.log(declined.state, declined.error?.code);

// Without a handler the client tells the server that this caller cannot respond.
const failed = await client.call('invoice.pay', { euros: 12 }, { throwOnFailure: false });
console.log(failed.state, failed.error?.code);

// A call that was only started: another part of the program responds.
const { tool_call_id: id } = await client.invoke('invoice.pay', { euros: 3 });
const waiting = client.wait(id);
for await (const event of client.events({ callId: id })) {
  if (event.type !== 'input_required') continue;
  const { input_request: request } = await client.get(id);
  if (request === undefined) continue;
  const content = request.url === undefined ? { content: { account: 'savings' } } : {};
  await client.respondInput(id, { id: request.id, ...content });
}
console.log((await waiting).result);
await board.close();
