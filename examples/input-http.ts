// A caller over plain HTTP: the tool asks, the caller responds. The board and its tool run in this process.
//
//   node examples/input-http.ts

import { createPatchboard, tool } from 'patchboard';
import { z } from 'zod';

const plan = tool({
  name: 'trip.plan',
  description: 'Plan a trip',
  metadata: { asksInput: true },
  execute: async (_args, context) => {
    const schema = z.object({ city: z.string(), days: z.number().int().default(3) });
    const { city, days } = await context.requestInput({ message: 'Which city?', schema });
    return `${days} days in ${city}`;
  },
});
const board = await createPatchboard({ tools: [plan] });
const { url } = await board.listen({ port: 0 });

interface Call {
  readonly tool_call_id: string;
  readonly state?: string;
  readonly result?: unknown;
  readonly error?: { readonly code: string } | null;
  readonly input_request?: { readonly id: string; readonly message: string; readonly schema: unknown };
}

type Response = { readonly status: number; readonly body: Call };

async function send(path: string, method: string, prefer: string, body?: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json', prefer };
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(url + path, { method, headers, ...json });
  return { status: response.status, body: (await response.json()) as Call };
}

const invoke = (prefer: string): Promise<Response> =>
  send('/v1/tools/trip.plan/invoke', 'POST', prefer, { run_id: 'run_trip', args: {} });

// 202: the tool needs input. 200 would mean that the call has ended.
const { status, body: asked } = await invoke('wait=10');
console.log(status, asked.state, asked.input_request?.message);

const path = `/v1/tool_calls/${asked.tool_call_id}`;
const respond = (content: unknown): Promise<Response> =>
  send(`${path}/input`, 'POST', '', { id: asked.input_request?.id, content });
console.log('a number:', (await respond({ city: 7 })).status);
console.log('a city:', (await respond({ city: 'Paris' })).status);
console.log('once more:', (await respond({ city: 'Rome' })).status);
const { body: ended } = await send(path, 'GET', 'wait=10');
console.log(ended.state, ended.result);

// A caller that cannot respond says so, and the tool fails at once.
console.log('cannot:', (await invoke('wait=10, input=none')).body.error?.code);
await board.close();
