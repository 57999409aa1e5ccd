import { McpUpstream } from '../../../src/sources/mcp/mcp-upstream.ts';
import type { McpUpstreamSettings } from '../../../src/sources/mcp/mcp-upstream-settings.ts';
import { SecretMask } from '../../../src/sources/shared/secret-mask.ts';
import type { Call } from '../../../src/core/call/call.ts';
import type { CallRequest } from '../../../src/core/call/call-request.ts';
import { accepted, anEngine, aPrincipal, aRequest, type EngineFixture } from '../../support/an-engine.ts';
import { FakeClock, settled } from '../../support/fake-clock.ts';
import { ScriptedConnection, type Step } from './scripted-connection.ts';

export const me = aPrincipal();
/** What the mask hides. */
export const SECRET = 'ghp_0123456789abcdef';

export function mcpSettings(given: Partial<McpUpstreamSettings> = {}): McpUpstreamSettings {
  return {
    name: 'github',
    kind: 'mcp',
    tenants: null,
    onChange: 'run',
    concurrency: 8,
    timeoutMs: 60_000,
    transport: { kind: 'http', url: 'https://example.org/mcp', headers: {}, auth: null },
    tools: ['*'],
    protocol: 'auto',
    hints: 'believe',
    inputRequests: true,
    sampling: false,
    ...given,
  };
}

export interface UpstreamFixture extends EngineFixture {
  readonly connection: ScriptedConnection;
  readonly upstream: McpUpstream;
  /** Submits a call of `github.search`, and waits until nothing moves without time passing. */
  readonly call: (request?: Partial<CallRequest>) => Promise<Call>;
  readonly read: (id: string) => Promise<Call>;
}

/** An engine with the tool `github.search` of a scripted upstream. */
export async function anMcpUpstream(
  steps: readonly Step[],
  {
    settings = {},
    tool = {},
    engine: given = {},
  }: {
    settings?: Partial<McpUpstreamSettings>;
    tool?: Readonly<Record<string, unknown>>;
    engine?: Parameters<typeof anEngine>[0];
  } = {},
): Promise<UpstreamFixture> {
  const connection = new ScriptedConnection(...steps);
  const clock = new FakeClock();
  const upstream = new McpUpstream(mcpSettings(settings), {
    connection,
    clock,
    mask: new SecretMask([SECRET]),
    instanceId: 'this-instance',
  });
  const fixture = await anEngine({ clock, upstreams: [upstream], ...given });
  connection.lists([{ name: 'search', inputSchema: { type: 'object' }, ...tool }]);
  const read = async (id: string): Promise<Call> => {
    await settled();
    const call = await fixture.engine.calls.find(me, id);
    if (call === undefined) throw new Error(`no such call: ${id}`);
    return call;
  };
  return {
    ...fixture,
    connection,
    upstream,
    read,
    call: async (request = {}) => {
      const submitted = await fixture.engine.submit(aRequest({ toolName: 'github.search', ...request }), me);
      return await read(accepted(submitted).id);
    },
  };
}

/** The value of a completed call. */
export function valueOf({ state }: Call): unknown {
  if (state.name !== 'COMPLETED') throw new Error(`not completed: ${JSON.stringify(state)}`);
  return JSON.parse(state.resultJson) as unknown;
}

/** The failure of an ended call. */
export function failureOf({ state }: Call) {
  if (!('error' in state)) throw new Error(`not failed: ${JSON.stringify(state)}`);
  return state.error;
}
