import { connectDevice, createClient, deviceTool } from '@patchboard/client';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { aLegacyClient } from '../mcp/support/legacy-client.ts';
import { rpc } from '../mcp/support/a-modern-client.ts';
import { afterUse } from '../support/after-use.ts';
import { runCli } from '../support/run-cli.ts';
import { ARGUMENT_MARK, RESULT_MARK } from './counters.ts';

const ARGS = { text: ARGUMENT_MARK };
const JSON_HEADERS = { 'content-type': 'application/json' };
export const ECHO = 'walk.echo';

/** Calls the tool once, and throws unless the result came back. */
export type Walk = () => Promise<void>;

export function overHttp(url: string, tool: string, headers: Readonly<Record<string, string>> = {}): Walk {
  return async () => {
    const path = `/v1/tools/${encodeURIComponent(tool)}/invoke`;
    await post(url + path, { run_id: 'walk', args: ARGS }, { prefer: 'wait=20', ...headers });
  };
}

export function overTenantApi(url: string): Walk {
  const headers = { 'x-tenant-id': 'default', 'x-site-id': 'here', 'x-trace-id': 'walk' };
  return async () => await post(`${url}/api/tools/call`, { tool_name: ECHO, input: ARGS }, headers);
}

export function overModernMcp(url: string): Walk {
  return async () => check(await rpc(url, 'tools/call', { name: ECHO, arguments: ARGS }));
}

export async function overLegacyMcp(url: string): Promise<Walk> {
  const client = await aLegacyClient(url);
  return async () => check(await client.request('tools/call', { name: ECHO, arguments: ARGS }));
}

export function asText(url: string): Walk {
  const reply = `<<<[TOOL_REQUEST]>>>\ntool_name:「始」${ECHO}「末」,\ntext:「始」${ARGUMENT_MARK}「末」\n<<<[END_TOOL_REQUEST]>>>`;
  return async () => await post(`${url}/v1/tool_calls/batch`, { format: 'vcp', reply, run_id: 'walk' });
}

export function overClient(url: string): Walk {
  const client = createClient({ url, runId: 'walk' });
  return async () => check(await client.call(ECHO, ARGS));
}

export function overCommandLine(url: string): Walk {
  return async () =>
    check(await runCli(['call', ECHO, `text=${ARGUMENT_MARK}`, '--json'], { PATCHBOARD_URL: url }));
}

export function embedded(server: { embedded(args: unknown): Promise<void> }): Walk {
  return async () => await server.embedded(ARGS);
}

/** Connects a device that offers `name`. */
export async function aDevice(url: string, name: string, key?: string): Promise<void> {
  const device = connectDevice(url, {
    name: 'walker',
    ...(key === undefined ? {} : { key }),
    tools: [
      deviceTool({
        name,
        description: 'returns a mark',
        parameters: { type: 'object', properties: { text: { type: 'string' } } },
        run: () => ({ said: RESULT_MARK }),
      }),
    ],
  });
  afterUse(() => device.close());
  await device.ready;
}

/** Registers `name` over HTTP, and runs what comes over the client's event stream. */
export async function aQueueClient(url: string, name: string): Promise<void> {
  const provider = createClient({ url }).provider('queue-walker');
  const stop = new AbortController();
  const requests = provider.requests({ signal: stop.signal });
  await provider.register([{ name, description: 'returns a mark', schema: { type: 'object' } }]);
  const work = (async () => {
    for await (const { tool_call_id: id, attempt_token: attemptToken } of requests)
      await provider.submit(id, { status: 'SUCCEEDED', result: { said: RESULT_MARK } }, { attemptToken });
  })();
  afterUse(async () => {
    stop.abort();
    await work.catch(() => undefined);
  });
}

/** An HTTP API with one operation. Returns the URL of its description. */
export async function anApi(): Promise<string> {
  const text = { name: 'text', in: 'query', required: true, schema: { type: 'string' } };
  const said = { description: 'The mark.', content: { 'application/json': { schema: { type: 'object' } } } };
  const server = createServer((request, response) => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const description = {
      openapi: '3.1.0',
      info: { title: 'Walk', version: '1' },
      servers: [{ url: origin }],
      paths: { '/echo': { get: { operationId: 'echo', parameters: [text], responses: { 200: said } } } },
    };
    const body = request.url?.startsWith('/echo') === true ? { said: RESULT_MARK } : description;
    response.writeHead(200, JSON_HEADERS).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterUse(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/openapi.json`;
}

async function post(
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...headers },
    body: JSON.stringify(body),
  });
  check(await response.text());
}

function check(reply: unknown): void {
  const text = typeof reply === 'string' ? reply : JSON.stringify(reply);
  if (!text.includes(RESULT_MARK)) throw new Error(`no result: ${text}`);
}
