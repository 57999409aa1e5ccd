import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/core/ports.ts';
import { headerText } from '../../src/protocols/mcp/param-headers.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { memoryStore } from '../../src/store/memory/memory-store.ts';
import { aServerTool, manualTool } from '../support/an-engine.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { waitFor } from '../support/wait-for.ts';
import { openSse } from '../http/support/sse-reader.ts';
import { mcpServers, TASKS } from './support/a-modern-client.ts';
import { eraClient } from './support/era-client.ts';
import { aLegacyClient, toolCall } from './support/legacy-client.ts';

const closeLater = closedAfterEach();
const serving = mcpServers();

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Megabytes of heap that remain after `work`. */
async function kept(work: () => Promise<void>): Promise<number> {
  collect();
  const before = process.memoryUsage().heapUsed;
  await work();
  collect();
  return (process.memoryUsage().heapUsed - before) / 1_000_000;
}

const JUNK = 'j'.repeat(500_000);
const TIMES = 25;

describe('memory of a request', () => {
  it('is not kept after its call has ended, with progress', async () => {
    const server = await serving({ tools: [aServerTool({ name: 'echo' })], onlyMcp: true });
    const requests: WeakRef<object>[] = [];
    server.app.server.on('request', (request: object) => requests.push(new WeakRef(request)));
    for (let time = 0; time < TIMES; time += 1)
      await server.call('echo', {}, { meta: { progressToken: time } });
    // The last ones may still be referred to by their connections.
    await waitFor(() => {
      collect();
      expect(requests.filter((request) => request.deref() !== undefined).length).toBeLessThan(TIMES / 2);
    }, 5000);
    expect(requests).toHaveLength(TIMES);
  });

  it('is not kept while its call goes on, in a session', async () => {
    const { tool, running } = manualTool('manual', { timeoutMs: 60_000 });
    const server = await serving({ tools: [tool], onlyMcp: true, mcp: { holdMs: 1 } });
    const client = await aLegacyClient(server.url, { capabilities: { elicitation: {} } });
    const call = async (): Promise<void> => {
      const sent = await client.post(toolCall('manual', {}, { junk: `${Math.random()}${JUNK}` }));
      expect((await sent.next()).result.structuredContent.status).toBe('pending');
    };
    await call();
    const megabytes = await kept(async () => {
      for (let time = 0; time < TIMES; time += 1) await call();
    });
    for (const { resolve } of running.values()) resolve('done');
    expect(megabytes).toBeLessThan(6);
  });

  it('counts as that of a body as long as a subscription is open', async () => {
    const server = await serving({ http: { heldBodyBytes: 3_000_000 } });
    const listen = (): ReturnType<typeof openSse> =>
      openSse(
        `${server.url}/mcp`,
        {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'subscriptions/listen',
        },
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'subscriptions/listen',
          params: {
            notifications: {},
            junk: JUNK,
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientCapabilities': {},
            },
          },
        },
      );
    const first = await listen();
    closeLater(() => first.close());
    const second = await listen();
    closeLater(() => second.close());
    expect([first.status, second.status]).toEqual([200, 503]);
  });
});

describe('a subscription to tasks', () => {
  it('does not keep the results of tasks that have ended', async () => {
    const read: WeakRef<object>[] = [];
    const memory = memoryStore({ digest: nodeDigest });
    // Each read of a call makes a new object, as a store on disk does.
    const findCall: Store['findCall'] = async (id) => {
      const call = structuredClone(await memory.findCall(id));
      if (call !== undefined) read.push(new WeakRef(call));
      return call;
    };
    const store = new Proxy(memory, {
      get: (target, name) => {
        const member = Reflect.get(target, name) as unknown;
        if (name === 'findCall') return findCall;
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
    const server = await serving({ tools: [aServerTool({ name: 'echo' })], store });
    const taskIds: string[] = [];
    for (let time = 0; time < TIMES; time += 1) {
      const { result } = await server.call('echo');
      taskIds.push(result._meta['patchboard/tool_call_id'] as string);
    }
    const client = await eraClient(server.url, 'modern');
    const stream = await client.listen({ taskIds }, TASKS);
    closeLater(() => stream.close());
    // The acknowledgement, and the end of each task.
    for (let count = 0; count <= TIMES; count += 1) await stream.next();
    await waitFor(() => {
      collect();
      expect(read.filter((call) => call.deref() !== undefined).length).toBeLessThan(TIMES / 2);
    }, 5000);
    expect(read.length).toBeGreaterThanOrEqual(TIMES);
  });
});

describe('a header with many spaces', () => {
  it('is read in linear time', () => {
    // A quadratic search takes minutes.
    const spaces = ' '.repeat(200_000);
    expect(headerText(`a${spaces}b`)).toBe(`a${spaces}b`);
  });

  it('does not name U+FFFD with bytes that are not UTF-8', async () => {
    const server = await serving({ onlyMcp: true });
    const headers = { 'mcp-name': '=?base64?/w==?=' };
    const { status, error } = await server.call('\ufffd', {}, { headers });
    expect([status, error.code]).toEqual([400, -32_020]);
  });
});

describe('texts that the server repeats', () => {
  it('are bounded: progress tokens and ids', async () => {
    const server = await serving({ tools: [aServerTool({ name: 'echo' })] });
    const { error } = await server.call('echo', {}, { meta: { progressToken: 'p'.repeat(1001) } });
    expect(error).toMatchObject({ code: -32_602 });
    const refused = await server.post('/mcp', { jsonrpc: '2.0', id: 'i'.repeat(1001), method: 'ping' });
    expect([refused.status, refused.json.id, refused.json.error.code]).toEqual([400, null, -32_600]);
  });
});

it('refuses patterns of tools with many wildcards, which would be searched in every name', async () => {
  const server = await serving({ onlyMcp: true });
  const list = (tools: string): Promise<Response> =>
    fetch(`${server.url}/mcp?tools=${tools}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
  expect((await list('*a'.repeat(50))).status).toBe(200);
  expect((await list(Array(3).fill('*a'.repeat(50)).join())).status).toBe(400);
});

it('refuses a state of a call that is no text', async () => {
  const server = await serving({ tools: [aServerTool({ name: 'echo' })], onlyMcp: true });
  const { error } = await server.call('echo', { requestState: { toString: 'x', valueOf: 'x' } });
  expect(error).toMatchObject({ code: -32_602, data: { reason: 'invalid_request_state' } });
});

it('checks the state of a prompt as it checks a body', async () => {
  const server = await serving({});
  server.engine.addPack({
    name: 'prompts',
    tools: [],
    prompts: [{ name: 'p', get: () => ({ messages: [] }) }],
  });
  const stateOf = (json: string): string => Buffer.from(json).toString('base64url');
  for (const content of [`${'['.repeat(50_000)}${']'.repeat(50_000)}`, '{"__proto__":{"isAdmin":true}}']) {
    const requestState = stateOf(`{"it":{"action":"accept","content":${content}}}`);
    const { status, error } = await server.rpc('prompts/get', { name: 'p', requestState });
    expect([status, error?.code]).toEqual([200, -32_602]);
  }
});

it('serves a call whose request has no socket, as in a server that simulates one', async () => {
  const { tool, running } = manualTool('manual');
  const server = await serving({ tools: [tool], onlyMcp: true });
  const reply = server.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { host: `localhost:${server.port}`, accept: 'application/json' },
    payload: toolCall('manual'),
  });
  const first = await waitFor(() => {
    const [one] = running.values();
    if (one === undefined) throw new Error('it does not run yet');
    return one;
  });
  first.resolve('done');
  expect((await reply).json().result.content[0].text).toBe('done');
});

it('marks the receipt of a tool whose output schema was listed as an error, also to a client with tasks', async () => {
  const { tool, running } = manualTool('manual', {
    task: 'never',
    outputSchema: { type: 'object', required: ['sum'] },
  });
  const server = await serving({ tools: [tool], mcp: { holdMs: 1 } });
  const { result } = await server.call('manual', {}, { capabilities: TASKS });
  for (const { resolve } of running.values()) resolve({ sum: 1 });
  expect(result).toMatchObject({ isError: true });
  expect(result).not.toHaveProperty('structuredContent');
});
