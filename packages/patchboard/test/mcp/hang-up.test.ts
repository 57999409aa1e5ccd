import { describe, expect, it } from 'vitest';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { memoryStore } from '../../src/store/memory/memory-store.ts';
import { aServerTool, manualTool } from '../support/an-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { anMcpServer, mcpServers, TASKS, type McpFixture } from './support/a-modern-client.ts';

const serving = mcpServers();
const KEY = { 'patchboard/idempotency_key': 'k1' };

/** Calls the tool and closes the socket while it runs. */
async function hungUp(
  server: McpFixture,
  running: ReturnType<typeof manualTool>['running'],
  meta = {},
): Promise<string> {
  const hangUp = new AbortController();
  const call = server.call('manual', {}, { meta, signal: hangUp.signal });
  const id = await waitFor(() => {
    const [first] = running.keys();
    if (first === undefined) throw new Error('it does not run yet');
    return first;
  });
  // With a token this opens the stream.
  running.get(id)?.context.progress(1);
  hangUp.abort();
  await expect(call).rejects.toThrow('aborted');
  return id;
}

describe('a client that closes its connection', () => {
  it.each([
    ['before the response', {}],
    ['in the middle of the stream', { progressToken: 1 }],
  ])('%s cancels its call', async (_when, meta) => {
    const { tool, running } = manualTool('manual');
    const server = await serving({ tools: [tool] });
    const id = await hungUp(server, running, meta);
    const record = await server.get(`/v1/tool_calls/${id}`, { headers: { prefer: 'wait=20' } });
    expect(record.json.state).toBe('CANCELLED');
    expect(running.get(id)?.context.signal.aborted).toBe(true);
  });

  it('before its call is recorded cancels it, also if it waits for approval', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const inner = memoryStore({ digest: nodeDigest });
    const store = new Proxy(inner, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        if (name !== 'insertCall') return method.bind(target) as unknown;
        return async (...args: unknown[]): Promise<unknown> => {
          await released;
          return (await Reflect.apply(method, target, args)) as unknown;
        };
      },
    });
    const danger = aServerTool({ name: 'danger', annotations: { destructive: true } });
    const server = await serving({ tools: [danger], store });
    const closed = new Promise<void>((resolve) => {
      server.app.server.on('connection', (socket) => socket.once('close', () => resolve()));
    });
    const hangUp = new AbortController();
    const call = server.call('danger', {}, { signal: hangUp.signal, capabilities: TASKS });
    await new Promise((resolve) => server.app.server.once('request', resolve));
    hangUp.abort();
    await expect(call).rejects.toThrow('aborted');
    await closed;
    release();
    await waitFor(async () => {
      const { json } = await server.get('/v1/tool_calls');
      expect(json.tool_calls).toMatchObject([{ tool_name: 'danger', state: 'CANCELLED' }]);
    });
  });

  it('gets the result later if its call has a key', async () => {
    const { tool, running } = manualTool('manual');
    const server = await serving({ tools: [tool] });
    const id = await hungUp(server, running, KEY);
    const again = server.call('manual', {}, { meta: KEY });
    expect(running.get(id)?.context.signal.aborted).toBe(false);
    running.get(id)?.resolve('kept');
    expect((await again).result).toMatchObject({ content: [{ text: 'kept' }] });
    expect(running.size).toBe(1);
  });

  it.each([
    ['cancels its call, because it does not repeat it', {}, 'CANCELLED'],
    ['gets the result of an idempotent tool later', { idempotent: true }, 'COMPLETED'],
  ])('and is a gateway %s', async (_what, annotations, state) => {
    const { tool, running } = manualTool('manual', { annotations });
    const server = await serving({ tools: [tool] });
    const id = await hungUp(server, running, { ...KEY, 'patchboard/hops': 1 });
    if (state === 'COMPLETED') {
      const again = server.call('manual', {}, { meta: { ...KEY, 'patchboard/hops': 1 } });
      running.get(id)?.resolve('kept');
      expect((await again).result).toMatchObject({ content: [{ text: 'kept' }] });
    }
    const record = await server.get(`/v1/tool_calls/${id}`, { headers: { prefer: 'wait=20' } });
    expect(record.json.state).toBe(state);
    expect(running.size).toBe(1);
  });
});

describe('an idempotency key', () => {
  it('lets a hundred requests share one execution', async () => {
    let runs = 0;
    const counting = aServerTool({
      name: 'count',
      execute: async () => {
        runs += 1;
        await new Promise((resolve) => setImmediate(resolve));
        return { runs };
      },
    });
    const server = await serving({ tools: [counting] });
    const replies = await Promise.all(
      Array.from({ length: 100 }, () => server.call('count', {}, { meta: KEY })),
    );
    expect(new Set(replies.map(({ result }) => JSON.stringify(result))).size).toBe(1);
    expect(replies[0]?.result.structuredContent).toEqual({ runs: 1 });
    expect(runs).toBe(1);
  });

  it('with other arguments is refused', async () => {
    const server = await serving({ tools: [aServerTool({ name: 'echo' })] });
    await server.call('echo', {}, { meta: KEY });
    const { error } = await server.call('echo', { arguments: { other: 1 } }, { meta: KEY });
    expect(error).toMatchObject({ code: -32_602, data: { code: 'idempotency_mismatch' } });
  });
});

describe('a server that closes', () => {
  it.each([
    ['a receipt', {}, { structuredContent: { status: 'pending', waits_for: 'execution' } }],
    ['a task', TASKS, { resultType: 'task', status: 'working' }],
  ])('sends %s to a client that waits', async (_what, capabilities, expected) => {
    const { tool, running } = manualTool('manual');
    const server = await anMcpServer({ tools: [tool] });
    const call = server.call('manual', {}, { capabilities });
    const id = await waitFor(() => {
      const [first] = running.keys();
      if (first === undefined) throw new Error('it does not run yet');
      return first;
    });
    const closed = server.close();
    expect((await call).result).toMatchObject(expected);
    running.get(id)?.resolve('late');
    await closed;
  });
});
