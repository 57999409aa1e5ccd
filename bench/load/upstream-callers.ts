// The ways of calling the same echo: the upstream itself, or a tool of Patchboard that calls the upstream.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ECHO_ARGS } from '../arms/bench-pack.ts';

export const PROTOCOL = '2026-07-28';

export interface Caller {
  /** Rejects if the response is not the echo. `lane` numbers the calls that run at the same time. */
  call(lane: number): Promise<void>;
  close(): Promise<void>;
}

/** Calls a tool with the client of the MCP SDK. */
async function mcpCaller(
  transport: StreamableHTTPClientTransport | StdioClientTransport,
  tool: string,
): Promise<Caller> {
  const client = new Client(
    { name: 'bench', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: PROTOCOL } } },
  );
  await client.connect(transport);
  return {
    call: async () => {
      const result = await client.callTool({ name: tool, arguments: ECHO_ARGS });
      if (result.isError === true) throw new Error(`${tool} failed: ${JSON.stringify(result)}`);
      checkEcho(tool, JSON.stringify(result.content));
    },
    close: () => client.close(),
  };
}

export async function mcpOverHttp(url: string, tool: string): Promise<Caller> {
  return await mcpCaller(new StreamableHTTPClientTransport(new URL(url)), tool);
}

export async function mcpOverStdio(command: readonly string[], tool: string): Promise<Caller> {
  const [file = '', ...args] = command;
  return await mcpCaller(new StdioClientTransport({ command: file, args, stderr: 'inherit' }), tool);
}

/** Sends the operation of the HTTP API itself. */
export function httpOperation(url: string): Caller {
  return { call: async () => await post(`${url}/echo`, ECHO_ARGS, {}), close: async () => {} };
}

/** Invokes the tool of the operation over the agent API and waits for its result. */
export function invokedOperation(url: string, tool: string): Caller {
  return {
    // One run per lane, so that the concurrency limit per run does not affect the result.
    call: async (lane) =>
      await post(
        `${url}/v1/tools/${tool}/invoke`,
        { run_id: `run_bench_${lane}`, args: { body: ECHO_ARGS } },
        { prefer: 'wait=30' },
      ),
    close: async () => {},
  };
}

async function post(url: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} returned ${response.status}: ${text}`);
  checkEcho(url, text);
}

function checkEcho(source: string, text: string): void {
  if (!text.includes(ECHO_ARGS.text)) throw new Error(`${source} returned no echo: ${text}`);
}
