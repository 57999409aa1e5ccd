import { createClient, createToolCalling, type ToolCallConfig } from '@patchboard/client';
import { useToolCalling } from '@patchboard/client/vue';
import { describe, expect, it } from 'vitest';
import { effectScope } from 'vue';
import { closedAfterEach } from '../support/after-each.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { danger, echo } from './support/toy-tools.ts';
import { waitFor } from '../support/wait-for.ts';

const closeLater = closedAfterEach();
const ON: ToolCallConfig = { enabled: true, defaultToolEnabled: true };

async function aToyServer(): Promise<TestPlatform & { readonly url: string }> {
  const server = await aPlatform({ tools: [echo, danger] });
  closeLater(() => server.close());
  return { ...server, url: `http://127.0.0.1:${server.port}` };
}

/** A client that keeps the paths it asks for, in order. */
function watchedClient(
  server: { readonly url: string },
  clock?: FakeClock,
): { client: ReturnType<typeof createClient>; asked: string[] } {
  const asked: string[] = [];
  const client = createClient({
    url: server.url,
    fetch: async (url, init) => {
      asked.push(`${init.method} ${new URL(url).pathname}`);
      return await fetch(url, init);
    },
    ...(clock === undefined
      ? {}
      : { clock: { now: () => clock.elapsed(), after: (ms, action) => clock.after(ms, action) } }),
  });
  return { client, asked };
}

describe('a call that waits for an approval', () => {
  const text = '<<<[TOOL_REQUEST]>>>tool_name:「始」danger「末」<<<[END_TOOL_REQUEST]>>>';

  it('does not time out while it waits, and its result is returned', async () => {
    const server = await aToyServer();
    const clock = new FakeClock();
    const { client, asked } = watchedClient(server, clock);
    const cycle = createToolCalling(client).processCycle(text, { ...ON, timeout: 5000 });
    const waits = (): number => asked.filter((path) => path.startsWith('GET /v1/tool_calls/')).length;
    for (const seen of [1, 3, 5]) {
      // One request that waits; when its time is over, one that looks, and the next that waits.
      await waitFor(() => expect(waits()).toBe(seen));
      await clock.advance(6000);
    }
    const operator = createClient({ url: server.url, key: server.operatorToken });
    for await (const { tool_call_id: id, digest } of operator.approvals())
      await operator.decide(id, { decision: 'allow', digest });
    const { executionResults } = await cycle;
    expect(executionResults).toMatchObject([{ status: 'success' }]);
    expect(asked.filter((path) => path.endsWith('/cancel'))).toEqual([]);
  });
});

describe('a reply with more requests than the report lists', () => {
  it('runs the listed requests, and reports the rest to the model', async () => {
    const server = await aToyServer();
    const one = `<<<[TOOL_REQUEST]>>>tool_name:「始」echo「末」text:「始」${'x'.repeat(200_000)}「末」<<<[END_TOOL_REQUEST]>>>`;
    const { client } = watchedClient(server);
    const { executionResults } = await createToolCalling(client).processCycle(one.repeat(4), ON);
    const ran = executionResults.filter(({ status }) => status === 'success').length;
    expect(ran).toBeGreaterThan(0);
    expect(executionResults.slice(ran)).toMatchObject([
      {
        status: 'error',
        result: expect.stringContaining(`${4 - ran} more requests of this reply`) as string,
      },
    ]);
  });
});

describe('the prompts of useToolCalling', () => {
  const PROMPT = 'POST /v1/prompt';

  it('are cached, and invalidated as soon as the tools change', async () => {
    const server = await aToyServer();
    const { client, asked } = watchedClient(server);
    const scope = effectScope();
    closeLater(() => Promise.resolve(scope.stop()));
    const calling = scope.run(() => useToolCalling({ client }))!;
    const prompts = (): number => asked.filter((path) => path === PROMPT).length;
    const isKept = async (): Promise<boolean> => {
      await calling.generateToolsPrompt(ON);
      const before = prompts();
      await calling.generateToolsPrompt(ON);
      return prompts() === before;
    };
    // From when the event stream is open.
    await expect.poll(isKept).toBe(true);
    await client.provider('c_late').register([{ name: 'echo.late', schema: { type: 'object' } }]);
    await expect.poll(() => calling.generateToolsPrompt(ON)).toContain('echo.late');
    await expect.poll(isKept).toBe(true);
    await client.provider('c_late').unregister();
    await expect.poll(() => calling.generateToolsPrompt(ON)).not.toContain('echo.late');
  });

  it('are fetched again while the stream is lost, and cached again when it is back', async () => {
    const server = await aToyServer();
    let isCut = true;
    const asked: string[] = [];
    const client = createClient({
      url: server.url,
      retry: { baseDelayMs: 1, maxDelayMs: 1, retries: 1000 },
      fetch: async (url, init) => {
        const { pathname } = new URL(url);
        asked.push(pathname);
        if (isCut && pathname === '/v1/events') throw new TypeError('cut');
        return await fetch(url, init);
      },
    });
    const calling = useToolCalling({ client });
    closeLater(() => Promise.resolve(calling.dispose()));
    const ask = async (): Promise<number> => {
      await calling.generateToolsPrompt(ON);
      return asked.filter((path) => path === '/v1/prompt').length;
    };
    expect([await ask(), await ask(), await ask()]).toEqual([1, 2, 3]);
    isCut = false;
    await expect.poll(async () => (await ask()) === (await ask())).toBe(true);
  });

  it('are followed until the scope ends', async () => {
    const server = await aToyServer();
    const { client } = watchedClient(server);
    const scope = effectScope();
    const calling = scope.run(() => useToolCalling({ client }))!;
    await calling.generateToolsPrompt(ON);
    const streams = async (): Promise<string> => {
      const { text } = await server.asOperator('GET', '/metrics');
      return /^patchboard_streams_open (\d+)/m.exec(text)?.[1] ?? '';
    };
    await expect.poll(streams).toBe('1');
    scope.stop();
    await expect.poll(streams).toBe('0');
    await expect(calling.generateToolsPrompt(ON)).resolves.toContain('echo');
    expect(await streams()).toBe('0');
  });
});
