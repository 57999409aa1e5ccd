import { createClient, createToolCalling, DECLINE_INPUT, type PatchboardClient } from '@patchboard/client';
import { useToolCalling } from '@patchboard/client/vue';
import type { CallView } from '@patchboard/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputRequired } from '../../src/core/call/input.ts';
import { aServerTool } from '../support/an-engine.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { waitFor } from '../support/wait-for.ts';
import { aServer, type TestServer } from './support/a-server.ts';

const CITY = {
  message: 'Which city?',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const;
const VISIT = { message: 'Sign in, please', url: 'https://accounts.example/sign-in' } as const;

const held = aServerTool({
  name: 'ask',
  annotations: { asks_input: true },
  execute: async (_args, context) => ({ said: await context.requestInput(CITY) }),
});
/** Returns two requests at once, and runs again with both responses. */
const returned = aServerTool({
  name: 'ask.twice',
  annotations: { asks_input: true },
  execute: (_args, { inputs }) =>
    inputs['city'] === undefined
      ? new InputRequired({ city: CITY, visit: VISIT })
      : { city: inputs['city'].content, visited: inputs['visit']?.action },
});

let server: TestServer;
let client: PatchboardClient;

beforeAll(async () => {
  server = await aServer({ tools: [held, returned] });
  client = createClient({ url: server.url });
});
afterAll(async () => {
  await server.close();
});

describe('the TypeScript client', () => {
  it('responds to every request of a round', async () => {
    const messages: string[] = [];
    const call = await client.call(
      'ask.twice',
      {},
      {
        onInputRequest: ({ message, url }) => {
          messages.push(message);
          return url === undefined ? { city: 'Oslo' } : undefined;
        },
      },
    );
    expect(messages).toEqual(['Which city?', 'Sign in, please']);
    expect(call.result).toEqual({ city: { city: 'Oslo' }, visited: 'accept' });
    expect(call.inputs?.map(({ action, content }) => [action, content])).toEqual([
      ['accept', { city: 'Oslo' }],
      ['accept', undefined],
    ]);
  });

  it('declines, and fails at once if it cannot respond', async () => {
    const options = { throwOnFailure: false, onInputRequest: () => DECLINE_INPUT };
    expect((await client.call('ask', {}, options)).error?.code).toBe('input_declined');
    expect((await client.call('ask', {}, { throwOnFailure: false })).error?.code).toBe('input_unavailable');
  });

  it('waits for a call that another program responds to, with one long poll', async () => {
    const asked: string[] = [];
    const watching = createClient({
      url: server.url,
      fetch: async (url, init) => {
        asked.push(init.method);
        return await fetch(url, init);
      },
    });
    const { tool_call_id: id } = await client.invoke('ask');
    await waitFor(async () => expect((await client.get(id)).input_request).toBeDefined());
    const waiting = watching.wait(id);
    await waitFor(() => expect(asked).toHaveLength(1));
    // A wait of a caller that can respond returns although the call has not ended.
    const early = await fetch(`${server.url}/v1/tool_calls/${id}`, { headers: { prefer: 'wait=30' } });
    const { input_request: request } = (await early.json()) as CallView;
    await client.respondInput(id, { id: request!.id, content: { city: 'Bergen' } });
    expect((await waiting).result).toEqual({ said: { city: 'Bergen' } });
    expect(asked).toEqual(['GET']);
  });

  it('gets the question again after a wait whose handler failed', async () => {
    const { tool_call_id: id } = await client.invoke('ask');
    const failing = client.wait(id, { onInputRequest: () => Promise.reject(new Error('no form')) });
    await expect(failing).rejects.toThrow('no form');
    const call = await client.wait(id, { onInputRequest: () => ({ city: 'Bodø' }) });
    expect(call.result).toEqual({ said: { city: 'Bodø' } });
  });
});

const ON = { enabled: true, defaultToolEnabled: true };
const text = '<<<[TOOL_REQUEST]>>>tool_name:「始」ask「末」<<<[END_TOOL_REQUEST]>>>';

describe('tool calling', () => {
  it('fails a tool that asks unless the page can respond', async () => {
    const { executionResults } = await createToolCalling(client).processCycle(text, ON);
    expect(executionResults).toMatchObject([
      { status: 'error', result: expect.stringContaining('input_unavailable') as string },
    ]);
    const calling = useToolCalling({ client });
    const cycle = await calling.processCycle(text, ON);
    expect(cycle.executionResults[0]?.result).toContain('input_unavailable');
    calling.dispose();
  });

  it('lists the request, keeps it while the content does not fit, and does not count the time', async () => {
    const clock = new FakeClock();
    const slow = createClient({
      url: server.url,
      clock: { now: () => clock.elapsed(), after: (ms, action) => clock.after(ms, action) },
    });
    const calling = useToolCalling({ client: slow, acceptsInput: true });
    const cycle = calling.processCycle(text, { ...ON, timeout: 5000 });
    await waitFor(() => expect(calling.inputRequests.value).toHaveLength(1));
    const [pending] = calling.inputRequests.value;
    expect(pending?.request).toMatchObject(CITY);
    await clock.advance(60_000);
    await expect(pending!.respond({ city: 7 })).rejects.toMatchObject({ code: 'input_invalid' });
    expect(calling.inputRequests.value).toHaveLength(1);
    await pending!.respond({ city: 'Moss' });
    expect(calling.inputRequests.value).toEqual([]);
    expect((await cycle).executionResults).toMatchObject([
      { status: 'success', result: '{"said":{"city":"Moss"}}' },
    ]);
    calling.dispose();
  });

  it('drops the request when the call ends without it', async () => {
    const calling = useToolCalling({ client, acceptsInput: true });
    const cycle = calling.processCycle(text, ON);
    await waitFor(() => expect(calling.inputRequests.value).toHaveLength(1));
    await client.cancel(calling.inputRequests.value[0]!.toolCallId);
    expect((await cycle).executionResults).toMatchObject([{ status: 'error' }]);
    expect(calling.inputRequests.value).toEqual([]);
    calling.dispose();
  });
});
