import { describe, expect, it } from 'vitest';
import { NOWHERE } from '../cli/cli-process.ts';
import { aBridge, modern } from './support/a-bridge.ts';
import { recordingServer, sendResult } from './support/recording-server.ts';

const MIB = 1024 * 1024;

describe('lines', () => {
  it('of more than 4 MiB are refused with the id of the request, and the next ones are read', async () => {
    const server = await recordingServer((request) =>
      sendResult(request, { length: JSON.stringify(request.body).length }),
    );
    const bridge = aBridge({ env: { PATCHBOARD_URL: server.url } });
    const params = { ...modern({ uri: 'a:b' }), text: '天'.repeat(1.5 * MIB) };
    bridge.send({ jsonrpc: '2.0', id: 'first member', method: 'resources/read', params });
    bridge.send({ method: 'resources/read', params, jsonrpc: '2.0', id: 42 });
    bridge.send({ method: 'resources/read', id: 43, params });
    const expected = { code: -32600, message: 'the message is longer than 4194304 bytes' };
    expect((await bridge.response('first member')).error).toEqual(expected);
    expect((await bridge.response(42)).error).toEqual(expected);
    // The id is in the middle, which is not kept.
    expect((await bridge.response(null)).error).toEqual(expected);
    const large = { ...params, text: 'a'.repeat(3.9 * MIB) };
    const { result } = await bridge.request(44, 'resources/read', large);
    expect(result?.['length']).toBeGreaterThan(3.9 * MIB);
    expect(server.requests).toHaveLength(1);
    expect(await bridge.end()).toBe(0);
  });

  it('that are no JSON-RPC message get an error, and empty ones nothing', async () => {
    const bridge = aBridge({ env: { PATCHBOARD_URL: NOWHERE } });
    for (const line of ['', '{"jsonrpc":', '3', '  ']) bridge.sendLine(line);
    await expect.poll(() => bridge.received().length).toBe(2);
    await bridge.end();
    expect(bridge.received().map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32700],
      [null, -32700],
    ]);
  });

  it('are not read while the server takes no requests, and none is lost', async () => {
    const held: (() => void)[] = [];
    const server = await recordingServer((request) => void held.push(() => sendResult(request, {})));
    const bridge = aBridge({ env: { PATCHBOARD_URL: server.url } });
    const params = modern({ uri: 'a:b', text: 'a'.repeat(3 * MIB) });
    for (let id = 1; id <= 12; id += 1) bridge.send({ jsonrpc: '2.0', id, method: 'resources/read', params });
    // 16 MiB may wait for the server; the line that passes the limit is the last one that is read.
    await expect.poll(() => held.length).toBe(6);
    for (let sent = 0; sent < 12; sent += 1) {
      await expect.poll(() => held.length).toBeGreaterThan(sent);
      expect(held.length - sent).toBeLessThanOrEqual(6);
      held[sent]?.();
    }
    for (let id = 1; id <= 12; id += 1) await bridge.response(id);
    expect(await bridge.end()).toBe(0);
  });
});

describe('a server that is not reachable', () => {
  it('gets every request an error that says what to do; the exit code is 1', async () => {
    const server = await recordingServer((request) => sendResult(request, {}));
    const { url } = server;
    await server.close();
    const bridge = aBridge({ env: { PATCHBOARD_URL: url } });
    const { error } = await bridge.request(1, 'tools/list', modern());
    expect(error).toEqual({
      code: -32603,
      message: `no server responds at ${url} (ECONNREFUSED); start it with: patchboard serve. The request was not sent`,
      data: { code: 'server_unreachable', outcome: 'not_started' },
    });
    expect((await bridge.request(2, 'initialize')).error?.data?.['outcome']).toBe('not_started');
    expect(await bridge.end()).toBe(1);
  });

  it('is used as soon as it is there', async () => {
    const first = await recordingServer((request) => sendResult(request, { run: 1 }));
    const bridge = aBridge({ env: { PATCHBOARD_URL: first.url } });
    expect((await bridge.request(1, 'tools/list', modern())).result).toEqual({ run: 1 });
    await first.close();
    expect((await bridge.request(2, 'tools/list', modern())).error?.data).toBeDefined();
    const port = Number(new URL(first.url).port);
    await recordingServer((request) => sendResult(request, { run: 2 }), port);
    expect((await bridge.request(3, 'tools/list', modern())).result).toEqual({ run: 2 });
    expect(await bridge.end()).toBe(0);
  });

  it('is told apart from a server without /mcp', async () => {
    const server = await recordingServer(({ response }) => {
      response.writeHead(404, { 'content-type': 'application/problem+json' }).end('{"title":"Not Found"}');
    });
    const bridge = aBridge({ env: { PATCHBOARD_URL: server.url } });
    const { error } = await bridge.request(1, 'tools/list', modern());
    expect(error?.message).toBe(`Not Found; ${server.url}/mcp is not the /mcp of a Patchboard server`);
    await bridge.end();
  });
});

describe('the command line', () => {
  it.each([
    [['--hold', '1.5'], '--hold must be a whole number of seconds, not "1.5"'],
    [['--tools'], "option '--tools' needs a value"],
    [['--nonsense'], "unknown option '--nonsense'"],
    [['--url', 'ftp://x'], '"ftp://x" is not an http or https URL'],
  ])('%j is refused', async (args, message) => {
    const bridge = aBridge({ args });
    expect(await bridge.end()).toBe(2);
    expect(bridge.stderr()).toBe(`patchboard: ${message}\n(add --help for help)\n`);
    expect(bridge.stdout()).toBe('');
  });
});
