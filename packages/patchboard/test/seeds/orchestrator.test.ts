import { tmpdir } from 'node:os';
import { createClient } from '@patchboard/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startOpenMeteo,
  type OpenMeteoStub,
} from '../../src/packs/essentials/weather/__fixtures__/open-meteo-server.ts';
import { pythonWithRequests } from '../support/python.ts';
import { runCommand } from '../support/run-command.ts';
import { cleanEnvironment, startServer, type ServerProcess } from '../support/server-process.ts';

/** The first description of this product came with these commands. They stay as they were written: only host, port and ids differ. */
const INVOKE_WEATHER = `curl -X POST http://localhost:8080/v1/tools/weather.query/invoke \\
  -H "Content-Type: application/json" \\
  -d '{
    "run_id": "run_001",
    "args": {"query": "Beijing weather"}
  }'`;
const POLL_WEATHER = 'curl http://localhost:8080/v1/tool_calls/tc_001';

const REGISTER = `curl -X POST http://localhost:8080/internal/tools/register \\
  -H "Content-Type: application/json" \\
  -d '{
    "client_id": "client_abc123",
    "tools": [
        {
            "name": "browser.screenshot",
            "schema": {
                "type": "object",
                "properties": {
                    "url": {"type": "string"},
                    "width": {"type": "integer"},
                    "height": {"type": "integer"}
                },
                "required": ["url"]
            },
            "timeout_ms": 30000
        },
        {
            "name": "file.read",
            "schema": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"}
                },
                "required": ["path"]
            },
            "timeout_ms": 5000
        }
    ]
}'`;
const INVOKE_SCREENSHOT = `curl -X POST http://localhost:8080/v1/tools/browser.screenshot/invoke \\
  -H "Content-Type: application/json" \\
  -d '{
    "run_id": "run_002",
    "args": {"url": "https://example.com"}
  }'`;
const POLL_SCREENSHOT = 'curl http://localhost:8080/v1/tool_calls/tc_002';
const SUBMIT_SCREENSHOT = `curl -X POST http://localhost:8080/internal/tool_calls/tc_002/submit \\
  -H "Content-Type: application/json" \\
  -d '{
    "status": "SUCCEEDED",
    "result": {
        "screenshot_url": "https://cdn.example.com/screenshot.png"
    }
  }'`;

const POLLING_LOOP = `
def invoke_tool_and_wait(tool_name, args, timeout=30):
    # 1. 调用工具（所有工具统一返回凭证）
    response = requests.post(
        f"http://orchestrator/v1/tools/{tool_name}/invoke",
        json={"run_id": "run_001", "args": args}
    )
    tool_call_id = response.json()["tool_call_id"]

    # 2. 轮询结果（无需区分工具类型）
    start_time = time.time()
    while time.time() - start_time < timeout:
        result = requests.get(
            f"http://orchestrator/v1/tool_calls/{tool_call_id}"
        ).json()

        # 检查是否完成
        if result["status"] in ["SUCCEEDED", "FAILED", "TIMEOUT"]:
            if result["status"] == "SUCCEEDED":
                return result["result"]
            else:
                raise Exception(f"Tool execution failed: {result.get('error')}")

        time.sleep(0.5)  # 轮询间隔

    raise TimeoutError("Tool execution timeout")
`;

const RECEIPT = {
  tool_call_id: expect.stringMatching(/^tc_/) as unknown,
  status: 'pending',
  message: 'tool call created, use tool_call_id to poll result',
};

type JsonObject = Readonly<Record<string, unknown>>;

describe('the orchestrator examples on a fresh start', () => {
  let weather: OpenMeteoStub;
  let server: ServerProcess;

  beforeAll(async () => {
    weather = await startOpenMeteo();
    server = await startServer({ OPEN_METEO_URL: weather.url, OPEN_METEO_GEOCODING_URL: weather.url });
  }, 60_000);

  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    await weather.close();
  });

  async function type(command: string, ids: Readonly<Record<string, string>> = {}): Promise<JsonObject> {
    let text = command.replaceAll('localhost:8080', `localhost:${server.port}`);
    for (const [shown, real] of Object.entries(ids)) text = text.replaceAll(shown, real);
    const options = { cwd: tmpdir(), env: cleanEnvironment() };
    const { code, out, error } = await runCommand('bash', ['-c', text], options);
    if (code !== 0) throw new Error(`exit code ${code}: ${error}`);
    return JSON.parse(out) as JsonObject;
  }

  async function python(program: string) {
    const text = `import json, requests, time\n${POLLING_LOOP}\n${program}`.replaceAll(
      'http://orchestrator',
      server.url,
    );
    const options = { cwd: tmpdir(), env: cleanEnvironment() };
    return await runCommand(pythonWithRequests(), ['-c', text], options);
  }

  it('example 1: a server tool', async () => {
    const receipt = await type(INVOKE_WEATHER);
    expect(receipt).toEqual(RECEIPT);
    const id = String(receipt['tool_call_id']);

    const early = await type(POLL_WEATHER, { tc_001: id });
    expect(early['tool_call_id']).toBe(id);
    expect(['PENDING', 'RUNNING', 'SUCCEEDED']).toContain(early['status']);

    await createClient({ url: server.url }).wait(id);
    expect(await type(POLL_WEATHER, { tc_001: id })).toMatchObject({
      tool_call_id: id,
      run_id: 'run_001',
      tool_name: 'weather.query',
      source: 'server',
      status: 'SUCCEEDED',
      args: { query: 'Beijing weather' },
      result: { weather: 'Sunny', temperature: 25 },
      error: null,
      created_at: expect.any(Number) as unknown,
      completed_at: expect.any(Number) as unknown,
    });
  });

  it('example 2: a tool of a client', async () => {
    expect(await type(REGISTER)).toMatchObject({ ok: true, registered_count: 2 });
    const receipt = await type(INVOKE_SCREENSHOT);
    expect(receipt).toEqual(RECEIPT);
    const id = String(receipt['tool_call_id']);
    expect(await type(POLL_SCREENSHOT, { tc_002: id })).toMatchObject({
      tool_call_id: id,
      status: 'PENDING',
    });

    const submitted = await type(SUBMIT_SCREENSHOT, { tc_002: id });
    expect(submitted).toEqual({ ok: true, tool_call_id: id, status: 'SUCCEEDED' });
    expect(await type(POLL_SCREENSHOT, { tc_002: id })).toMatchObject({
      tool_call_id: id,
      source: 'client',
      status: 'SUCCEEDED',
      result: { screenshot_url: 'https://cdn.example.com/screenshot.png' },
      completed_at: expect.any(Number) as unknown,
    });
  });

  it('the tool list has what the server and the client offer', async () => {
    await type(REGISTER);
    const { tools } = (await type('curl http://localhost:8080/v1/tools')) as { tools: unknown };
    expect(tools).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'weather.query', source: 'server', timeout_ms: 5000 }),
        expect.objectContaining({ name: 'database.query', source: 'server', timeout_ms: 10_000 }),
        expect.objectContaining({ name: 'calculation.eval', source: 'server', timeout_ms: 3000 }),
        expect.objectContaining({ name: 'browser.screenshot', source: 'client', timeout_ms: 30_000 }),
      ]),
    );
  });

  it('the polling loop returns the result', async () => {
    const program = 'print(json.dumps(invoke_tool_and_wait("calculation.eval", {"expression": "(3+4)*6"})))';
    const { code, out, error } = await python(program);
    expect(code, error).toBe(0);
    expect(JSON.parse(out)).toEqual({ value: 42 });
  });

  it('the polling loop returns the result in a second agent, whose run has the same fixed id', async () => {
    const loop = (agent: string): string =>
      `requests = __import__("requests").Session(); requests.headers["X-Agent-Id"] = "${agent}"\n` +
      'print(json.dumps(invoke_tool_and_wait("calculation.eval", {"expression": "(3+4)*6"})))';
    for (const agent of ['planner', 'researcher']) {
      const { code, out, error } = await python(loop(agent));
      expect(code, error).toBe(0);
      expect(JSON.parse(out)).toEqual({ value: 42 });
    }
  });

  it('the polling loop raises when the tool fails', async () => {
    const { code, error } = await python('invoke_tool_and_wait("calculation.eval", {"expression": "1/0"})');
    expect(code).not.toBe(0);
    expect(error).toMatch(/Tool execution failed: .*division by zero/);
  });
});
