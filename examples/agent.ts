// An agent: lists its tools, calls one, and handles a failed call.
//
//   node examples/agent.ts

import { createClient, isCallStateEvent, ToolCallFailed } from '@patchboard/client';

const url = process.env['PATCHBOARD_URL'] ?? 'http://127.0.0.1:8080';
const client = createClient({ url, agentId: 'accountant' });

const tools = await client.tools();
console.log('I may call', tools.map((tool) => tool.name).join(', '));

// The call is recorded before the response, with an idempotency key: a retry after a lost response cannot run it twice.
const receipt = await client.invoke('calculation.eval', { expression: '1200 * 1.19' });
for await (const event of client.events({ callId: receipt.tool_call_id })) {
  if (isCallStateEvent(event)) console.log(`${event.id}: ${event.data.state}`);
}
const { result } = await client.get(receipt.tool_call_id);
console.log('with tax:', (result as { value: number }).value);

// `call` is invoke and wait in one. It throws for a failed call; the error has the record.
try {
  await client.call('calculation.eval', { expression: '1200 / 0' });
  throw new Error('dividing by zero should have failed');
} catch (error) {
  if (!(error instanceof ToolCallFailed)) throw error;
  console.log(`${error.call.state}: ${error.message}`);
}

// All calls of this run, newest first.
for await (const call of client.calls({ runId: client.runId })) {
  console.log(call.tool_name, call.status, `${call.duration_ms} ms`);
}
