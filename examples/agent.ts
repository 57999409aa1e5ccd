// An agent: looks at what it may call, calls a tool, and reads how a call went that did not go well.
//
//   node examples/agent.ts

import { createClient, isCallStateEvent, ToolCallFailed } from '@patchboard/client';

const url = process.env['PATCHBOARD_URL'] ?? 'http://127.0.0.1:8080';
const client = createClient({ url, agentId: 'accountant' });

const tools = await client.tools();
console.log('I may call', tools.map((tool) => tool.name).join(', '));

// Recorded before the answer, and with a key of its own: trying again after a lost answer cannot run it twice.
const receipt = await client.invoke('calculation.eval', { expression: '1200 * 1.19' });
for await (const event of client.events({ callId: receipt.tool_call_id })) {
  if (isCallStateEvent(event)) console.log(`${event.id}: ${event.data.state}`);
}
const { result } = await client.get(receipt.tool_call_id);
console.log('with tax:', (result as { value: number }).value);

// `call` is invoke and wait in one. A call that ends badly is thrown, with its record.
try {
  await client.call('calculation.eval', { expression: '1200 / 0' });
  throw new Error('dividing by zero should have failed');
} catch (error) {
  if (!(error instanceof ToolCallFailed)) throw error;
  console.log(`${error.call.state}: ${error.message}`);
}

// Everything this agent did in this run, newest first.
for await (const call of client.calls({ runId: client.runId })) {
  console.log(call.tool_name, call.status, `${call.duration_ms} ms`);
}
