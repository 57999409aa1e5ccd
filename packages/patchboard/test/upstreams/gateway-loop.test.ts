import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { McpUpstream } from '../../src/sources/mcp/mcp-upstream.ts';
import { httpSettings } from '../mcp-connection/support/a-connection.ts';
import { aServerTool } from '../support/an-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { AGateway } from './support/a-gateway.ts';
import { me, valueOf } from './support/an-mcp-upstream.ts';

/** Three servers, each an upstream of the one before it, the first of the last. */
const NAMES = ['a', 'b', 'c'];
let gateways: AGateway[];
let upstreams: McpUpstream[];

beforeAll(async () => {
  gateways = await Promise.all(NAMES.map(() => AGateway.start()));
  gateways.forEach(({ server }, index) => {
    const execute = () => NAMES[index];
    server.engine.addPack({ name: 'more', tools: [aServerTool({ name: 'echo', execute })] });
  });
  upstreams = gateways.map((gateway, index) => {
    const next = (index + 1) % NAMES.length;
    const url = `${gateways[next]?.server.url}/mcp`;
    return gateway.attach(httpSettings(url, { name: NAMES[next] ?? '', tools: ['*echo'] }));
  });
});
afterAll(async () => {
  await Promise.all((gateways ?? []).map((gateway) => gateway.close()));
});

const toolsOf = ({ server }: AGateway): string[] =>
  server.engine
    .tools(me)
    .map(({ name }) => name)
    .filter((name) => name.endsWith('echo'))
    .toSorted();
const lists = (): string[][] => gateways.map(toolsOf);

const EXPECTED = [
  ['b.c__echo', 'b.echo', 'echo'],
  ['c.a__echo', 'c.echo', 'echo'],
  ['a.b__echo', 'a.echo', 'echo'],
];

describe('gateways that are upstreams of each other in a loop', () => {
  it('list each tool once, however often they are listed', async () => {
    await waitFor(() => expect(lists()).toEqual(EXPECTED));
    for (let round = 0; round < 3; round += 1) {
      // A new connection: everything is listed again, and each list tells the next server that it changed.
      await Promise.all(upstreams.map((upstream) => upstream.restart()));
      await waitFor(() => expect(upstreams.every((upstream) => upstream.isOnline())).toBe(true));
      await waitFor(() => expect(lists()).toEqual(EXPECTED));
    }
  });

  it('reject the tools that come from themselves, and say so', async () => {
    const [first] = gateways;
    await waitFor(() =>
      expect(first?.server.engine.upstreams.find('b')?.rejected).toMatchObject([
        {
          name: 'b.c__a__echo',
          code: 'conflict',
          reason: 'the tool comes from this server: upstream b reaches it through its own upstreams',
        },
      ]),
    );
  });

  it('call the tools of all others', async () => {
    const [first] = gateways;
    const call = async (name: string) => (first === undefined ? null : valueOf(await first.run(name)));
    expect([await call('echo'), await call('b.echo'), await call('b.c__echo')]).toEqual(NAMES);
  });

  it('have the same contract of a tool, whichever servers it passes through', async () => {
    const tool = () => gateways[0]?.server.engine.tool(me, 'b.c__echo');
    expect(tool()?.contractChange).toBeNull();
    expect(tool()?.metadata).toEqual({ upstream: 'b', tool: 'c__echo', title: 'c.echo' });
    expect(JSON.stringify(tool()?.metadata)).not.toContain(gateways[2]?.server.engine.instanceId);
  });
});

it('a server that is its own upstream is refused, and offers none of its tools a second time', async () => {
  const gateway = await AGateway.start();
  try {
    const upstream = gateway.attach(httpSettings(`${gateway.server.url}/mcp`, { name: 'me' }));
    await waitFor(() => expect(upstream.status().state).toBe('failed'));
    expect(upstream.status().lastError?.message).toBe(
      'the upstream is this server itself; change its address or remove it',
    );
    expect(gateway.server.engine.upstreams.find('me')?.tools).toEqual([]);
  } finally {
    await gateway.close();
  }
});
