import { once } from 'node:events';
import {
  connectDevice,
  deviceTool,
  Patchboard,
  ToolCallResult,
  type Device,
  type DeviceOptions,
  type DeviceProblem,
} from '@patchboard/client';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  aDataFolder,
  aPlatform,
  type PlatformGiven,
  type TestPlatform,
} from '../guard/support/a-platform.ts';
import { callId, ended, toolNames } from './support/agent.ts';
import { deviceStates } from './support/device-events.ts';
import { aDroppingProxy } from '../../../../scripts/chaos/dropping-proxy.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { waitFor } from '../support/wait-for.ts';

const closeLater = closedAfterEach();

async function aServer(given: PlatformGiven = {}): Promise<TestPlatform> {
  // The proxy has a port of its own.
  const http = { allowed_hosts: ['127.0.0.1'] };
  const server = await aPlatform({ ...given, config: { http, ...(given.config as object) } });
  closeLater(() => server.close());
  return server;
}

const urlOf = (server: TestPlatform): string => `http://127.0.0.1:${server.port}`;
const QUICK = { openTimeoutMs: 500, retry: { baseDelayMs: 20, maxDelayMs: 200 } };

async function online(url: string, options: DeviceOptions): Promise<Device> {
  const device = connectDevice(url, { ...QUICK, ...options });
  closeLater(() => device.close());
  await device.ready;
  return device;
}

/** A door that a test opens when it likes. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

describe('a handler', () => {
  it('returns, throws or says how it went, and knows its arguments, deadline and signal', async () => {
    const server = await aServer();
    await online(urlOf(server), {
      tools: [
        deviceTool<{ n: number }>({ name: 'double', run: ({ n }) => n * 2 }),
        deviceTool({ name: 'nothing', run: () => undefined }),
        deviceTool({
          name: 'fails',
          run: () => {
            throw new Error('Camera permission denied');
          },
        }),
        deviceTool({ name: 'says', run: () => ToolCallResult.success('fine') }),
        deviceTool({ name: 'refuses', run: () => ToolCallResult.failure('not today') }),
        deviceTool({
          name: 'knows',
          run: (_args, { deadlineAt, signal, attempt }) => [typeof deadlineAt, signal.aborted, attempt],
        }),
        deviceTool({ name: 'cannot', run: () => 1n }),
      ],
    });
    const result = async (tool: string, args: unknown = {}) =>
      await ended(server, await callId(server, tool, { args }));
    expect((await result('double', { n: 21 })).result).toBe(42);
    expect(await result('nothing')).toMatchObject({ status: 'SUCCEEDED', result: null });
    expect((await result('fails')).error).toMatchObject({
      code: 'tool_failed',
      message: 'Camera permission denied',
    });
    expect((await result('says')).result).toBe('fine');
    expect((await result('refuses')).error?.message).toBe('not today');
    expect((await result('knows')).result).toEqual(['object', false, 1]);
    expect((await result('cannot')).error?.message).toContain('BigInt');
  });

  it('that is missing: No handler registered', async () => {
    const server = await aServer();
    const device = Patchboard.device(urlOf(server))
      .registerTool({ name: 'device_info', description: '获取设备信息', parameters: '{"type":"object"}' })
      .build();
    closeLater(() => device.close());
    await device.ready;
    const call = await ended(server, await callId(server, 'device_info'));
    expect(call.error?.message).toBe('No handler registered');
  });

  it('one for all tools, step by step', async () => {
    const server = await aServer();
    const device = Patchboard.device(urlOf(server))
      .registerTool({ name: 'device_info', parameters: { type: 'object' } })
      .registerTool({ name: 'camera', parameters: { type: 'object' } })
      .toolCallHandler((request) =>
        request.name === 'device_info'
          ? ToolCallResult.success({ model: 'Pixel 8' })
          : ToolCallResult.failure('unknown tool'),
      )
      .options({ clientId: 'pixel' })
      .build();
    closeLater(() => device.close());
    await device.ready;
    expect((await ended(server, await callId(server, 'device_info'))).result).toEqual({ model: 'Pixel 8' });
    expect((await ended(server, await callId(server, 'camera'))).error?.message).toBe('unknown tool');
    expect(() => Patchboard.device('http://x').registerTool({ name: 'a', parameters: '{' })).toThrow(
      'are not valid JSON',
    );
  });

  it('runs one after the other, or as many at once as `concurrency` allows', async () => {
    const server = await aServer();
    const order: string[] = [];
    const doors = new Map(['a', 'b', 'c'].map((name) => [name, gate()]));
    const tool = (name: string) =>
      deviceTool<{ of: string }>({
        name,
        run: async ({ of }) => {
          order.push(`+${of}`);
          await doors.get(of)!.opened;
          order.push(`-${of}`);
        },
      });
    await online(urlOf(server), { name: 'one', tools: [tool('one.work')] });
    const calls = await Promise.all(['a', 'b'].map((of) => callId(server, 'one.work', { args: { of } })));
    doors.get('b')!.open();
    doors.get('a')!.open();
    for (const id of calls) await ended(server, id);
    expect(order).toHaveLength(4);
    expect(order[1]![1]).toBe(order[0]![1]);
    order.length = 0;
    const two = gate();
    let running = 0;
    await online(urlOf(server), {
      clientId: 'wide',
      concurrency: 2,
      tools: [
        deviceTool({
          name: 'two.work',
          run: async () => {
            running += 1;
            if (running === 2) two.open();
            await two.opened;
          },
        }),
      ],
    });
    const both = await Promise.all([callId(server, 'two.work'), callId(server, 'two.work')]);
    for (const id of both) expect((await ended(server, id)).status).toBe('SUCCEEDED');
  });

  it('gets an aborted signal when the call is cancelled, also while it waits its turn', async () => {
    const server = await aServer();
    const begun = gate();
    const seen: string[] = [];
    const device = await online(urlOf(server), {
      tools: [
        deviceTool<{ n: number }>({
          name: 'long',
          run: async ({ n }, { signal, progress }) => {
            progress({ begun: n });
            begun.open();
            await once(signal, 'abort');
            seen.push(String((signal.reason as Error).message));
          },
        }),
      ],
    });
    const first = await callId(server, 'long', { args: { n: 1 } });
    const second = await callId(server, 'long', { args: { n: 2 } });
    await begun.opened;
    for (const id of [second, first]) {
      await server.ask({ method: 'POST', path: `/v1/tool_calls/${id}/cancel`, body: {} });
      expect((await ended(server, id)).state).toBe('CANCELLED');
    }
    await waitFor(() => expect(seen).toEqual(['cancelled']));
    expect(device.unacknowledged).toBe(0);
  });

  it('whose result is too large for a frame fails instead of breaking the connection for ever', async () => {
    const server = await aServer({ config: { limits: { result_bytes: 2000, frame_bytes: 70_000 } } });
    await online(urlOf(server), { tools: [deviceTool({ name: 'big', run: () => '汉'.repeat(25_000) })] });
    const call = await ended(server, await callId(server, 'big'));
    expect(call.error?.message).toBe('the result is larger than 70000 bytes');
  });
});

describe('the connection', () => {
  it('is opened with a ticket where a key is needed', async () => {
    const server = await aServer();
    const key = await server.mint({ kind: 'client', name: 'phone-1' });
    const agent = await server.mint({ kind: 'agent', name: 'agent' });
    await online(urlOf(server), { key: key.secret, tools: [deviceTool({ name: 'hi', run: () => 'hi' })] });
    const id = await callId(server, 'hi', { headers: agent.headers });
    expect((await ended(server, id, agent.headers)).result).toBe('hi');
    const problems: DeviceProblem[] = [];
    const refused = connectDevice(urlOf(server), {
      ...QUICK,
      key: 'pb_wrong',
      onProblem: (problem) => problems.push(problem),
    });
    await waitFor(() => expect(problems.length).toBeGreaterThan(1));
    expect(problems[0]).toMatchObject({ kind: 'connection', code: 'auth_required' });
    await refused.close();
    await expect(refused.ready).rejects.toThrow('closed');
  });

  it('may be any socket that looks like one', async () => {
    const server = await aServer();
    const device = await online(`ws://127.0.0.1:${server.port}/ws`, {
      socket: (url) => new WebSocket(url) as never,
      tools: [deviceTool({ name: 'hi', run: () => 'hi' })],
    });
    expect((await ended(server, await callId(server, 'hi'))).result).toBe('hi');
    expect(device.state).toBe('online');
  });

  it('says which tools were not taken', async () => {
    const server = await aServer();
    const device = await online(urlOf(server), { tools: [deviceTool({ name: 'bad name', run: () => 1 })] });
    expect(device.rejected).toMatchObject([{ name: 'bad name', code: 'name_invalid' }]);
  });

  it('comes back after a reset with its tools, and its work goes on without a second execution', async () => {
    const server = await aServer();
    const proxy = await aDroppingProxy(() => server.port);
    closeLater(() => proxy.close());
    const begun = gate();
    const finish = gate();
    let runs = 0;
    await online(proxy.url, {
      tools: [
        deviceTool({
          name: 'long',
          run: async () => {
            runs += 1;
            begun.open();
            await finish.opened;
            return 'done';
          },
        }),
      ],
    });
    const id = await callId(server, 'long');
    await begun.opened;
    proxy.cut();
    await waitFor(() => expect(proxy.connections()).toBeGreaterThan(1));
    finish.open();
    expect(await ended(server, id)).toMatchObject({ result: 'done', attempts: [{ attempt: 1 }] });
    expect(runs).toBe(1);
    await waitFor(async () => expect(await toolNames(server)).toEqual(['long']));
  });

  it('comes back while its work reports progress: what cannot be sent yet is left out', async () => {
    const server = await aServer();
    const proxy = await aDroppingProxy(() => server.port);
    closeLater(() => proxy.close());
    const begun = gate();
    const finish = gate();
    const problems: string[] = [];
    let report = (): void => undefined;
    await online(proxy.url, {
      socket: (url) => {
        // Before this socket can be open.
        queueMicrotask(() => report());
        return new globalThis.WebSocket(url) as never;
      },
      tools: [
        deviceTool({
          name: 'long',
          run: async (_args, { progress }) => {
            report = () => progress('on the way');
            begun.open();
            await finish.opened;
            return 'done';
          },
        }),
      ],
      onProblem: ({ message }) => problems.push(message),
    });
    const id = await callId(server, 'long');
    await begun.opened;
    proxy.cut();
    await waitFor(() => expect(problems).not.toEqual([]));
    finish.open();
    expect((await ended(server, id)).result).toBe('done');
    expect(problems).not.toContain('the socket does not accept more data (1006)');
  });

  it.each(['up', 'down', 'both'] as const)(
    'notices a connection that drops what goes %s, and nothing is lost or done twice',
    async (way) => {
      // Long enough for a busy machine: a connection that works must not miss one.
      const server = await aServer({ config: { limits: { device_heartbeat_ms: 400 } } });
      const proxy = await aDroppingProxy(() => server.port);
      closeLater(() => proxy.close());
      const runs: number[] = [];
      const device = await online(proxy.url, {
        tools: [deviceTool<{ n: number }>({ name: 'count', run: ({ n }) => (runs.push(n), n) })],
      });
      await ended(server, await callId(server, 'count', { args: { n: 0 } }));
      proxy.drop(way);
      const id = await callId(server, 'count', { args: { n: 1 } });
      const before = proxy.connections();
      await waitFor(() => expect(device.state).not.toBe('online'));
      proxy.restore();
      expect((await ended(server, id)).result).toBe(1);
      expect(proxy.connections()).toBeGreaterThan(before);
      expect(runs).toEqual([0, 1]);
      await waitFor(() => expect(device.unacknowledged).toBe(0));
      await waitFor(async () =>
        expect((await deviceStates(server)).filter(({ state }) => state === 'online')).toHaveLength(1),
      );
    },
  );

  it('finds a server that was restarted, and brings what was done meanwhile', async () => {
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const server = await aPlatform({ folder });
    const proxyPort = { current: server.port };
    const begun = gate();
    const finish = gate();
    const opened: string[] = [];
    const device = connectDevice(urlOf(server), {
      ...QUICK,
      socket: (url) => {
        opened.push(url);
        return new WebSocket(url.replace(/:\d+\//, `:${proxyPort.current}/`)) as never;
      },
      tools: [
        deviceTool({
          name: 'long',
          run: async () => {
            begun.open();
            await finish.opened;
            return 'done while you were away';
          },
        }),
      ],
    });
    closeLater(() => device.close());
    await device.ready;
    const id = await callId(server, 'long');
    await begun.opened;
    await server.close();
    finish.open();
    await waitFor(() => expect(device.unacknowledged).toBe(1));
    const next = await aServer({ folder });
    proxyPort.current = next.port;
    expect((await ended(next, id)).result).toBe('done while you were away');
    await waitFor(() => expect(device.unacknowledged).toBe(0));
  });

  it('keeps results in a storage over the end of its program, and delivers them once', async () => {
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const server = await aServer();
    const proxy = await aDroppingProxy(() => server.port);
    closeLater(() => proxy.close());
    const disk = new Map<string, string>();
    const outbox = {
      load: () => [...disk],
      put: (id: string, frame: string) => void disk.set(id, frame),
      delete: (id: string) => void disk.delete(id),
    };
    let runs = 0;
    const tools = [
      deviceTool({
        name: 'once',
        timeoutMs: 20_000,
        run: () => {
          proxy.drop('both');
          return (runs += 1);
        },
      }),
    ];
    const first = await online(proxy.url, { tools, outbox, clientId: 'phone' });
    const id = await callId(server, 'once');
    await waitFor(() => expect(disk.size).toBe(1));
    // The program ends without a word: no goodbye gets through.
    await first.close();
    proxy.cut();
    proxy.restore();
    expect(disk.size).toBe(1);
    const second = await online(proxy.url, { tools, outbox, clientId: 'phone' });
    expect((await ended(server, id)).result).toBe(1);
    await waitFor(() => expect(disk.size).toBe(0));
    expect(second.unacknowledged).toBe(0);
    expect(runs).toBe(1);
  });
});
