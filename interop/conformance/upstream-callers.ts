import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createClient } from '@patchboard/client';
import type { Patchboard } from '../../packages/patchboard/src/index.ts';
import { runCli } from '../../packages/patchboard/test/support/run-cli.ts';

/** One way to use a server. Results are compared as text. */
export interface Caller {
  list(): Promise<string>;
  call(tool: string, args: Readonly<Record<string, unknown>>): Promise<string>;
}

type Make = (url: string, board: Patchboard) => Caller;

const RUN = 'run_interop';

/** The body of the response. */
async function http(url: string, body?: object): Promise<string> {
  const headers = { 'content-type': 'application/json', prefer: 'wait=50' };
  const response = await fetch(
    url,
    body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) },
  );
  return await response.text();
}

export const CALLERS: Readonly<Record<string, Make>> = {
  'the HTTP API': (url) => ({
    list: async () => await http(`${url}/v1/tools`),
    call: async (tool, args) => await http(`${url}/v1/tools/${tool}/invoke`, { run_id: RUN, args }),
  }),

  MCP: (url) => ({
    list: async () => JSON.stringify(await mcp(url, async (client) => await client.listTools())),
    call: async (tool, args) => {
      const name = tool.replace('.', '__');
      return JSON.stringify(
        await mcp(url, async (client) => await client.callTool({ name, arguments: args })),
      );
    },
  }),

  'the client SDK': (url) => {
    const client = createClient({ url });
    return {
      list: async () => JSON.stringify(await client.tools()),
      call: async (tool, args) => JSON.stringify(await client.call(tool, args)),
    };
  },

  'an embedded board': (_url, board) => ({
    list: async () => JSON.stringify(board.tools().map(({ name }) => name)),
    call: async (tool, args) => JSON.stringify(await board.call(tool, args)),
  }),

  'the command line': (url) => ({
    list: () => cli(url, 'tools', 'ls'),
    call: (tool, args) => cli(url, 'call', tool, '--args', JSON.stringify(args)),
  }),

  'the text protocol VCP': (url) => ({
    list: async () => await http(`${url}/v1/tools?format=vcp`),
    call: async (tool, args) => {
      const fields = Object.entries({ tool_name: tool, ...args }).map(
        ([name, value]) => `${name}:「始」${String(value)}「末」`,
      );
      const reply = `<<<[TOOL_REQUEST]>>>\n${fields.join(',\n')}\n<<<[END_TOOL_REQUEST]>>>`;
      return await http(`${url}/v1/tool_calls/batch`, { format: 'vcp', reply, run_id: RUN });
    },
  }),
};

/** Connects a client of the MCP SDK for one use. */
export async function mcp<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: 'interop', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

async function cli(url: string, ...argv: readonly string[]): Promise<string> {
  const { code, out, error } = await runCli(argv, { PATCHBOARD_URL: url });
  if (code !== 0) throw new Error(error);
  return out;
}
