import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Client as TestedClient, ClientRun, Target } from '../client-run.ts';
import { STEPS, user, walk, type Session } from '../steps.ts';

const MODES: Readonly<Record<ClientRun['era'], VersionNegotiationMode>> = {
  legacy: 'legacy',
  auto: 'auto',
  modern: { pin: '2026-07-28' },
};

async function run({ era, transport }: Pick<ClientRun, 'era' | 'transport'>, target: Target): Promise<void> {
  const mcp = new Client(
    { name: 'interop', version: '1.0.0' },
    { capabilities: { elicitation: { form: {}, url: {} } }, versionNegotiation: { mode: MODES[era] } },
  );
  const respond = user(target);
  mcp.setRequestHandler('elicitation/create', ({ params }) => respond(params));
  await mcp.connect(
    transport === 'http'
      ? new StreamableHTTPClientTransport(new URL(target.mcpUrl))
      : new StdioClientTransport(target.bridge),
  );
  const session: Session = {
    toolNames: async () => (await mcp.listTools()).tools.map(({ name }) => name),
    call: async (name, args, { signal, onProgress } = {}) =>
      await mcp.callTool(
        { name, arguments: args },
        { ...(signal && { signal }), ...(onProgress && { onprogress: onProgress }) },
      ),
  };
  try {
    await walk(session, target);
  } finally {
    await mcp.close();
  }
}

const over = (transport: ClientRun['transport']): ClientRun[] =>
  (['legacy', 'auto', 'modern'] as const).map((era) => ({
    era,
    transport,
    does: STEPS,
    run: (target) => run({ era, transport }, target),
  }));

export const client: TestedClient = {
  package: '@modelcontextprotocol/client',
  runs: [...over('http'), ...over('stdio')],
};
