import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Client as TestedClient, ClientRun, Target } from '../client-run.ts';
import { STEPS, user, walk, type Session } from '../steps.ts';

async function run(transport: ClientRun['transport'], target: Target): Promise<void> {
  const mcp = new Client(
    { name: 'interop', version: '1.0.0' },
    { capabilities: { elicitation: { form: {}, url: {} } } },
  );
  const respond = user(target);
  mcp.setRequestHandler(ElicitRequestSchema, ({ params }) => respond(params));
  await mcp.connect(
    transport === 'http'
      ? new StreamableHTTPClientTransport(new URL(target.mcpUrl))
      : new StdioClientTransport(target.bridge),
  );
  const session: Session = {
    toolNames: async () => (await mcp.listTools()).tools.map(({ name }) => name),
    call: async (name, args, { signal, onProgress } = {}) =>
      await mcp.callTool({ name, arguments: args }, undefined, {
        ...(signal && { signal }),
        ...(onProgress && { onprogress: onProgress }),
      }),
  };
  try {
    await walk(session, target);
  } finally {
    await mcp.close();
  }
}

export const client: TestedClient = {
  package: '@modelcontextprotocol/sdk',
  runs: (['http', 'stdio'] as const).map((transport) => ({
    era: 'legacy',
    transport,
    does: STEPS,
    run: (target) => run(transport, target),
  })),
};
