import type { Call } from '../../../src/core/call/call.ts';
import type { CallRequest } from '../../../src/core/call/call-request.ts';
import { isOpen } from '../../../src/core/call/call.ts';
import type { EventFeed } from '../../../src/core/ledger/events.ts';
import { nodeClock } from '../../../src/runtime/node-clock.ts';
import { McpUpstream } from '../../../src/sources/mcp/mcp-upstream.ts';
import type { McpUpstreamSettings } from '../../../src/sources/mcp/mcp-upstream-settings.ts';
import { SecretMask } from '../../../src/sources/shared/secret-mask.ts';
import { AConnection } from '../../mcp-connection/support/a-connection.ts';
import { anMcpServer, type McpFixture } from '../../mcp/support/a-modern-client.ts';
import { accepted, aRequest } from '../../support/an-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { me, SECRET } from './an-mcp-upstream.ts';

/** A server with an MCP endpoint, whose engine has upstreams over real connections. */
export class AGateway {
  readonly server: McpFixture;

  constructor(server: McpFixture) {
    this.server = server;
  }

  static async start(...settings: readonly McpUpstreamSettings[]): Promise<AGateway> {
    const gateway = new AGateway(await anMcpServer({ onlyMcp: true }));
    for (const one of settings) gateway.attach(one);
    return gateway;
  }

  attach(settings: McpUpstreamSettings): McpUpstream {
    const { instanceId } = this.server.engine;
    const { connection } = new AConnection(settings, { instanceId });
    const upstream = new McpUpstream(settings, {
      connection,
      clock: nodeClock,
      mask: new SecretMask([SECRET]),
      instanceId,
    });
    this.server.engine.upstreams.add(upstream);
    return upstream;
  }

  /** Submits a call as soon as the tool is listed. */
  async submit(toolName: string, given: Partial<CallRequest> = {}): Promise<Call> {
    const { engine } = this.server;
    await waitFor(() => {
      if (engine.tool(me, toolName) === undefined)
        throw new Error(`${toolName} is not listed: ${JSON.stringify(engine.upstreams.list())}`);
    });
    return accepted(await engine.submit(aRequest({ toolName, ...given }), me));
  }

  /** Waits until the call has ended, or reached that state. */
  async reached(id: string, state?: Call['state']['name']): Promise<Call> {
    return await waitFor(async () => {
      const call = await this.server.engine.calls.find(me, id);
      if (call === undefined) throw new Error(`no such call: ${id}`);
      if (state === undefined ? isOpen(call) : call.state.name !== state)
        throw new Error(`the call is ${JSON.stringify(call.state)}`);
      return call;
    });
  }

  async run(toolName: string, given: Partial<CallRequest> = {}): Promise<Call> {
    return await this.reached((await this.submit(toolName, given)).id);
  }

  /** The progress that the call has reported since this was called. */
  progressOf(id: string): unknown[] {
    const reports: unknown[] = [];
    const { feed }: { feed: Pick<EventFeed, 'listenToCall'> } = this.server.engine;
    feed.listenToCall(id, ({ type, data }) => {
      if (type === 'call.progress') reports.push((data as { data: unknown }).data);
    });
    return reports;
  }

  close(): Promise<void> {
    return this.server.close();
  }
}
