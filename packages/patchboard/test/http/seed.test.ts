import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aServer, type TestServer } from './support/a-server.ts';
import { aServerTool } from '../support/an-engine.ts';

const run = promisify(execFile);
let server: TestServer;

beforeAll(async () => {
  const weather = aServerTool({
    name: 'weather.query',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
    execute: () => Promise.resolve({ weather: 'Sunny', temperature: 25 }),
  });
  server = await aServer({ tools: [weather] });
});
afterAll(async () => {
  await server.close();
});

/** As a person types it; the port apart. */
async function curl(...args: string[]): Promise<Record<string, string>> {
  const here = args.map((arg) => arg.replace('http://localhost:8080', `http://localhost:${server.port}`));
  const { stdout } = await run('curl', ['-sS', '-4', ...here]);
  return JSON.parse(stdout);
}

const JSON_HEADER = ['-H', 'Content-Type: application/json'];

it('runs a server tool as the seed shows it', async () => {
  const receipt = await curl(
    '-X',
    'POST',
    'http://localhost:8080/v1/tools/weather.query/invoke',
    ...JSON_HEADER,
    '-d',
    `{
    "run_id": "run_001",
    "args": {"query": "Beijing weather"}
  }`,
  );
  expect(receipt).toEqual({
    tool_call_id: expect.stringMatching(/^tc_/),
    status: 'pending',
    message: 'tool call created, use tool_call_id to poll result',
  });
  let record = await curl(`http://localhost:8080/v1/tool_calls/${receipt['tool_call_id']}`);
  while (record['status'] === 'RUNNING')
    record = await curl(`http://localhost:8080/v1/tool_calls/${receipt['tool_call_id']}`);
  expect(record).toMatchObject({ status: 'SUCCEEDED', result: { weather: 'Sunny', temperature: 25 } });
});

it('runs a client tool as the seed shows it', async () => {
  const registered = await curl(
    '-X',
    'POST',
    'http://localhost:8080/internal/tools/register',
    ...JSON_HEADER,
    '-d',
    `{
    "client_id": "client_abc123",
    "tools": [{
      "name": "browser.screenshot",
      "schema": {
        "type": "object",
        "properties": {"url": {"type": "string"}, "width": {"type": "integer"}, "height": {"type": "integer"}},
        "required": ["url"]
      },
      "timeout_ms": 30000
    }]
  }`,
  );
  expect(registered).toMatchObject({ ok: true, registered_count: 1 });
  const receipt = await curl(
    '-X',
    'POST',
    'http://localhost:8080/v1/tools/browser.screenshot/invoke',
    ...JSON_HEADER,
    '-d',
    `{
    "run_id": "run_002",
    "args": {"url": "https://example.com"}
  }`,
  );
  const id = receipt['tool_call_id'];
  expect(await curl(`http://localhost:8080/v1/tool_calls/${id}`)).toMatchObject({ status: 'PENDING' });
  const submitted = await curl(
    '-X',
    'POST',
    `http://localhost:8080/internal/tool_calls/${id}/submit`,
    ...JSON_HEADER,
    '-d',
    `{
    "status": "SUCCEEDED",
    "result": {
        "screenshot_url": "https://cdn.example.com/screenshot.png"
    }
  }`,
  );
  expect(submitted).toEqual({ ok: true, tool_call_id: id, status: 'SUCCEEDED' });
  expect(await curl(`http://localhost:8080/v1/tool_calls/${id}`)).toMatchObject({
    status: 'SUCCEEDED',
    result: { screenshot_url: 'https://cdn.example.com/screenshot.png' },
  });
});
