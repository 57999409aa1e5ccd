import { connectDevice, createClient, deviceTool } from '@patchboard/client';
import type { CallView } from '@patchboard/wire';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { LONG } from '../cli/cli-process.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { startServer } from '../support/server-process.ts';
import { waitFor } from '../support/wait-for.ts';

const closeLater = closedAfterEach();
const CITY = {
  message: 'Which city?',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const;

it(
  'a device that asks goes on after a kill of the server, with a response from before or after its return',
  { timeout: LONG },
  async () => {
    const killed = await startServer();
    closeLater(() => killed.stop());
    const port = { current: killed.port };
    let runs = 0;
    const tool = deviceTool({
      name: 'photo',
      timeoutMs: 60_000,
      run: async (_args, call) => {
        runs += 1;
        return { said: await call.requestInput(CITY) };
      },
    });
    const device = connectDevice(killed.url, {
      openTimeoutMs: 500,
      retry: { baseDelayMs: 20, maxDelayMs: 200 },
      concurrency: 2,
      socket: (url) => new WebSocket(url.replace(/:\d+\//, `:${port.current}/`)) as never,
      tools: [tool],
    });
    closeLater(() => device.close());
    await device.ready;

    const agent = createClient({ url: killed.url, agentId: 'ada' });
    const [{ tool_call_id: before }, { tool_call_id: after }] = [
      await agent.invoke('photo'),
      await agent.invoke('photo'),
    ];
    for (const id of [before, after])
      await waitFor(async () => expect((await agent.get(id)).input_request).toBeDefined());
    process.kill(killed.pid, 'SIGKILL');
    await killed.exit();

    const server = await startServer({}, ['--data', killed.dataFolder]);
    closeLater(() => server.stop());
    const again = createClient({ url: server.url, agentId: 'ada' });
    const ended = async (id: string): Promise<CallView> => await again.wait(id);
    await again.respondInput(before, { id: 'in_1', content: { city: 'before' } });
    port.current = server.port;
    expect((await ended(before)).result).toEqual({ said: { city: 'before' } });
    await again.respondInput(after, { id: 'in_1', content: { city: 'after' } });
    expect(await ended(after)).toMatchObject({
      result: { said: { city: 'after' } },
      inputs: [{ id: 'in_1' }],
    });
    expect(runs).toBe(2);
  },
);
