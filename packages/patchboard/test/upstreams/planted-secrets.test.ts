import type { CallView } from '@patchboard/wire';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  ScriptedServer,
  send,
  sendResult,
  stream,
  type Received,
} from '../mcp-connection/support/scripted-server.ts';
import { aWebServer } from '../mcp-connection/support/web-server.ts';
import { rpc } from '../mcp/support/a-modern-client.ts';
import { runCli } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';
import { ServedUpstreams } from './support/served-upstreams.ts';

/** What the operator sets, and what the authorization server issues for it. */
const ENVIRONMENT = {
  SECRET: 'planted-in-the-environment',
  HEADER_SECRET: 'planted-in-a-header',
  CLIENT_SECRET: 'planted-as-client-secret',
};
const ACCESS_TOKEN = 'planted-as-access-token';
const SECRETS = [...Object.values(ENVIRONMENT), ACCESS_TOKEN];

const CALLS = [
  'troublesome.leak',
  'troublesome.fail',
  'troublesome.refuse',
  'web.leak',
  'web.fail',
  'web.refuse',
];

it('secrets that upstreams repeat are in no response, log line or file', async () => {
  const web = await anIndiscreetServer();
  const served = await ServedUpstreams.start({ web }, ENVIRONMENT);
  const { server, operator, agent } = served;
  const seen: Record<string, string> = {};

  for (const tool of CALLS) {
    const call = await agent.call(tool, {}, { throwOnFailure: false });
    seen[`record of ${tool}`] = JSON.stringify(call);
    seen[`events of ${tool}`] = await eventsOf(server.url, call);
  }
  for (const name of ['web__leak', 'troublesome__leak'])
    seen[`MCP result of ${name}`] = JSON.stringify(
      await rpc(server.url, 'tools/call', { name, arguments: {} }, { meta: { progressToken: 'p' } }),
    );
  seen['MCP list'] = JSON.stringify(await rpc(server.url, 'tools/list', {}));
  for (const path of ['/v1/tools', '/v1/tools/web.leak', '/v1/tool_calls', '/v1/ledger'])
    seen[path] = await (await fetch(`${server.url}${path}`)).text();
  seen['/v1/upstreams'] = JSON.stringify(await operator.upstreams());
  const environment = { PATCHBOARD_DATA: server.dataFolder };
  const listed = await runCli(['mcp', 'list', '--json'], environment);
  expect(listed.code).toBe(0);
  seen['mcp list'] = listed.out + listed.error;
  await waitFor(() => expect(server.log()).toContain('the environment has'));
  seen['log'] = server.log() + server.out();
  await server.exit();
  seen['files'] = filesOf(server.dataFolder);

  for (const [place, text] of Object.entries(seen))
    for (const secret of SECRETS)
      for (const form of [secret, Buffer.from(secret).toString('base64')])
        expect(text.includes(form), `${form} in ${place}: ${text.slice(0, 2000)}`).toBe(false);
  // The upstreams did repeat them. The ledger has no results, and events have no progress of the past.
  const others = Object.keys(seen).filter((place) => !/^(events|\/v1\/ledger)/.test(place));
  for (const place of others) expect(seen[place], place).toContain('[redacted]');
  expect(seen['MCP result of web__leak']).toContain('half of [redacted]');
  expect(seen['MCP result of troublesome__leak']).toContain('half of [redacted]');
});

/** The settings of a server over HTTP that puts all it was sent into what it sends. */
async function anIndiscreetServer(): Promise<object> {
  const issuer = await aWebServer((request, response) => {
    request.resume();
    send(response, 200, { access_token: ACCESS_TOKEN, token_type: 'Bearer', expires_in: 3600 });
  });
  const known = ({ headers }: Received): string =>
    `${String(headers['x-api-key'])} ${String(headers.authorization)} ${ENVIRONMENT.CLIENT_SECRET} ` +
    Buffer.from(ACCESS_TOKEN).toString('base64');
  const text = (received: Received) => [{ type: 'text', text: known(received) }];
  const server = new ScriptedServer({
    fail: (response, received) =>
      sendResult(response, received.id, { content: text(received), isError: true }),
    refuse: (response, received) =>
      send(response, 200, {
        jsonrpc: '2.0',
        id: received.id,
        error: { code: -32_000, message: known(received), data: { why: known(received) } },
      }),
    leak: (response, received) => {
      const event = stream(response);
      const { progressToken } = received.params['_meta'] as { progressToken: string };
      const message = `half of ${known(received)}`;
      event({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2, message } });
      event({
        method: 'notifications/message',
        params: { level: 'error', data: { heard: known(received) } },
      });
      event({ id: received.id, result: { content: text(received) } });
      response.end();
    },
  });
  server.first = (response, received) => {
    if (received.method !== 'tools/list') return false;
    const tools = Object.keys(server.tools).map((name) => ({
      name,
      title: known(received),
      description: known(received),
      inputSchema: { type: 'object', properties: { text: { type: 'string', default: known(received) } } },
    }));
    sendResult(response, received.id, { tools });
    return true;
  };
  await server.listen();
  return {
    url: server.url,
    headers: { 'X-Api-Key': '${HEADER_SECRET}' },
    auth: {
      client_credentials: { client_id: 'pb', secret_env: 'CLIENT_SECRET', token_url: issuer.url },
    },
  };
}

/** The event stream of a call that has ended ends by itself. */
async function eventsOf(url: string, { tool_call_id: id }: CallView): Promise<string> {
  return await (await fetch(`${url}/v1/tool_calls/${id}/events`)).text();
}

function filesOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}
