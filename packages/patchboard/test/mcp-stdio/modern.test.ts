import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFixedPort } from '../support/a-fixed-port.ts';
import { aFolder } from '../support/a-folder.ts';
import { ensureOperatorToken } from '../../src/identity/operator-token.ts';
import { aBridge, modern } from './support/a-bridge.ts';
import {
  openStream,
  recordingServer,
  sendError,
  sendResult,
  type Recorded,
} from './support/recording-server.ts';

const TOOL = {
  name: 'weather__query',
  _meta: { 'patchboard/name': 'weather.query' },
  inputSchema: {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      days: { type: 'integer', 'x-mcp-header': 'Days' },
      place: { type: 'object', properties: { exact: { type: 'boolean', 'x-mcp-header': 'Exact' } } },
      note: { type: 'string' },
    },
  },
};

function isCall({ body }: Recorded): boolean {
  return body.method === 'tools/call';
}

/** Lists the tool, and completes everything else. */
function respond(request: Recorded): void {
  sendResult(request, request.body.method === 'tools/list' ? { tools: [TOOL] } : { resultType: 'complete' });
}

describe('a modern request', () => {
  it('is sent with the headers that its body implies, and its response is one line', async () => {
    const server = await recordingServer((request) => {
      request.response.writeHead(200, { 'content-type': 'application/json' });
      // A number that JavaScript cannot represent, and line ends between tokens, must survive.
      request.response.end(
        `{"jsonrpc":"2.0",\n"id":${JSON.stringify(request.body.id)},\r\n"result":{"n":12345678901234567890}}\n`,
      );
    });
    const env = {
      PATCHBOARD_URL: `${server.url}/`,
      PATCHBOARD_KEY: 'pb_secret',
      PATCHBOARD_MCP_TOOLS: 'a.*,b.*',
    };
    const bridge = aBridge({ env, args: ['--hold', '600'] });
    await bridge.request('r', 'resources/read', modern({ uri: 'patchboard://tools/天气' }));
    await bridge.request(7, 'tasks/get', modern({ taskId: ' spaces ' }));
    await bridge.request(8, 'prompts/get', modern({ name: 'plain name' }));
    await bridge.request(9, 'server/discover', modern());
    expect(await bridge.end()).toBe(0);
    expect(server.requests.map(({ url }) => url)).toEqual(Array(4).fill('/mcp?tools=a.*%2Cb.*&hold=600'));
    const [read, task, prompt, discover] = server.requests.map(({ headers }) => headers);
    expect(read).toMatchObject({
      authorization: 'Bearer pb_secret',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'resources/read',
      'mcp-name': `=?base64?${Buffer.from('patchboard://tools/天气').toString('base64')}?=`,
    });
    expect(read).not.toHaveProperty('mcp-session-id');
    expect(task?.['mcp-name']).toBe(`=?base64?${Buffer.from(' spaces ').toString('base64')}?=`);
    expect(prompt?.['mcp-name']).toBe('plain name');
    expect(discover).not.toHaveProperty('mcp-name');
    expect(bridge.received().map(({ id }) => id)).toEqual(['r', 7, 8, 9]);
    expect(bridge.stdout()).toMatch(/^(.*"n":12345678901234567890.*\n){4}$/);
  });

  it('of a tool carries Mcp-Param headers, which the bridge learns from the list of tools', async () => {
    const server = await recordingServer(respond);
    const bridge = aBridge({ env: { PATCHBOARD_URL: server.url } });
    const args = { region: 'Île', days: 3, place: { exact: true }, note: 'x' };
    await bridge.request(1, 'tools/call', modern({ name: 'weather.query', arguments: args }));
    await bridge.request(2, 'tools/call', modern({ name: 'weather__query', arguments: { region: null } }));
    await bridge.end();
    // The client listed nothing, so the bridge did, once.
    expect(server.requests.map(({ body }) => body.method)).toEqual([
      'tools/list',
      'tools/call',
      'tools/call',
    ]);
    expect(server.requests[0]?.body.params?.['_meta']).toEqual(modern()['_meta']);
    const [first, second] = server.requests.filter(isCall).map(({ headers }) => headers);
    expect(first).toMatchObject({
      'mcp-name': 'weather.query',
      'mcp-param-region': `=?base64?${Buffer.from('Île').toString('base64')}?=`,
      'mcp-param-days': '3',
      'mcp-param-exact': 'true',
    });
    expect(Object.keys(second ?? {}).filter((name) => name.startsWith('mcp-param'))).toEqual([]);
    expect(bridge.received().map(({ id }) => id)).toEqual([1, 2]);
  });

  it('is repeated once with the headers of a new list, if the tool has changed', async () => {
    let version = 0;
    const server = await recordingServer((request) => {
      const header = `Region-${version}`;
      if (request.body.method === 'tools/list') {
        const properties = { region: { type: 'string', 'x-mcp-header': header } };
        sendResult(request, { tools: [{ name: 'w', inputSchema: { type: 'object', properties } }] });
      } else if (request.headers[`mcp-param-${header.toLowerCase()}`] === 'a')
        sendResult(request, { ok: true });
      else sendError(request, 400, -32020, 'Header mismatch');
    });
    const bridge = aBridge({ env: { PATCHBOARD_URL: server.url } });
    const call = modern({ name: 'w', arguments: { region: 'a' } });
    await bridge.request(1, 'tools/list', modern());
    version = 1;
    expect((await bridge.request(2, 'tools/call', call)).result).toEqual({ ok: true });
    // An error that a new list does not cure is passed on, and other errors are not repeated.
    const wrong = modern({ name: 'w', arguments: { region: 'b' } });
    expect((await bridge.request(3, 'tools/call', wrong)).error).toEqual({
      code: -32020,
      message: 'Header mismatch',
    });
    expect(server.requests.filter(({ body }) => body.id === 3)).toHaveLength(2);
    await bridge.end();
  });

  it('gets the events of its stream as lines while others run', async () => {
    const server = await recordingServer((request) => {
      if (request.body.method !== 'tools/call') return respond(request);
      const send = openStream(request);
      send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } });
      // Ends only after the other request, which is sent later.
      server
        .got(({ body }) => body.id === 2)
        .then(() => {
          send({ jsonrpc: '2.0', id: request.body.id, result: { resultType: 'complete' } });
          request.response.end();
        })
        .catch((error: Error) => request.response.destroy(error));
    });
    const bridge = aBridge({ env: { PATCHBOARD_URL: server.url } });
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: modern({ name: 'slow' }) });
    await server.got(isCall);
    await bridge.request(2, 'prompts/list', modern());
    await bridge.response(1);
    await bridge.end();
    expect(bridge.received().filter(({ id }) => id !== 2)).toMatchObject([
      { method: 'notifications/progress', params: { progress: 1 } },
      { id: 1, result: { resultType: 'complete' } },
    ]);
  });

  it('is cancelled by closing its exchange, and only its own', async () => {
    const server = await recordingServer((request) => {
      if (request.body.method === 'tools/call') openStream(request);
      else respond(request);
    });
    const bridge = aBridge({ env: { PATCHBOARD_URL: server.url } });
    for (const id of [1, 2])
      bridge.send({ jsonrpc: '2.0', id, method: 'tools/call', params: modern({ name: 'slow' }) });
    const second = await server.got(({ body }) => body.id === 2);
    const first = await server.got(({ body }) => body.id === 1);
    bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await expect.poll(() => first.hungUp).toBe(true);
    expect(second.hungUp).toBe(false);
    // The end of stdin closes the rest, after a grace period for what may still end.
    expect(await bridge.end()).toBe(0);
    await expect.poll(() => second.hungUp).toBe(true);
    expect(server.requests.map(({ body }) => body.method)).not.toContain('notifications/cancelled');
    expect(bridge.received()).toEqual([]);
  });
});

describe('the end of stdin', () => {
  it('leaves open requests a moment to end, as in a pipe; a signal does not', async () => {
    const server = await recordingServer((request) => {
      if (request.body.id === 1) respond(request);
    });
    const piped = aBridge({ env: { PATCHBOARD_URL: server.url } });
    piped.send({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: modern() });
    expect(await piped.end()).toBe(0);
    expect(piped.received().map(({ id }) => id)).toEqual([1]);

    const stopped = aBridge({ env: { PATCHBOARD_URL: server.url } });
    stopped.send({ jsonrpc: '2.0', id: 2, method: 'prompts/list', params: modern() });
    const open = await server.got(({ body }) => body.id === 2);
    await stopped.kill('SIGTERM');
    await expect.poll(() => open.hungUp).toBe(true);
    expect(stopped.received()).toEqual([]);
  });

  it('gives requests that moment from when the server is up, not while it starts', async () => {
    // The process in server.json lives and does not respond to the first health checks, so that the bridge waits for it.
    const server = await recordingServer(respond, 0, { silentHealthChecks: 2 });
    const dataFolder = await aFolder();
    await writeFile(join(dataFolder, 'server.json'), JSON.stringify({ url: server.url, pid: process.pid }));
    const piped = aBridge({ env: { PATCHBOARD_DATA: dataFolder, PORT: String(await aFixedPort()) } });
    piped.send({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: modern() });
    expect(await piped.end()).toBe(0);
    expect(piped.received().map(({ id }) => id)).toEqual([1]);
  });
});

describe('the credential', () => {
  it('is never the operator token of the data folder', async () => {
    const dataFolder = await aFolder();
    const token = await ensureOperatorToken(dataFolder);
    const server = await recordingServer(respond);
    const env = { PATCHBOARD_URL: server.url, PATCHBOARD_DATA: dataFolder };
    const bridge = aBridge({ env });
    await bridge.request(1, 'tools/list', modern());
    expect(await bridge.end()).toBe(0);
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(await readFile(join(dataFolder, 'operator.token'), 'utf8')).toBe(`${token}\n`);

    const refused = aBridge({ env: { ...env, PATCHBOARD_KEY: token } });
    expect(await refused.end()).toBe(2);
    expect(refused.stderr()).toContain('PATCHBOARD_KEY is the operator token; set it to the key of an agent');
    expect(refused.stderr()).not.toContain(token);
    expect(server.requests).toHaveLength(1);
  });

  it('that is missing gets an error that names the variable', async () => {
    const server = await recordingServer((request) =>
      sendError({ ...request, body: { jsonrpc: '2.0' } }, 401, -32603, 'a credential is required'),
    );
    const bridge = aBridge({ env: { PATCHBOARD_URL: server.url } });
    expect((await bridge.request(1, 'tools/list', modern())).error?.message).toBe(
      'a credential is required; set PATCHBOARD_KEY in the configuration of this MCP client to the key of an agent',
    );
    await bridge.end();
  });
});
