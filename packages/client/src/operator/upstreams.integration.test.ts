import type { UpstreamView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { clientOf, fakeServer, json } from '../../test/fake-server.ts';

const AT = '2026-01-01T00:00:00.000Z';

const upstream: UpstreamView = {
  name: 'github',
  kind: 'mcp',
  state: 'connected',
  protocol: '2026-07-28',
  server: { name: 'example', version: '1.0.0' },
  address: 'https://mcp.example.com',
  pack: 'mcp:github',
  tenants: null,
  on_change: 'ask',
  concurrency: 8,
  sandboxed: null,
  tools: [
    {
      name: 'github.search',
      version: 'v2',
      annotations: { readonly: true },
      change: { from: 'v1', since: AT, differences: [{ path: '/description', before: 'a', after: 'b' }] },
    },
    { name: 'github.delete', version: 'v1', annotations: { destructive: true } },
  ],
  rejected: [{ name: 'github.bad', code: 'schema_invalid', reason: 'no', reasons: [] }],
  in_flight: 1,
  latency_ms: { median: 5, p95: 9 },
  last_error: { message: 'connect ECONNREFUSED', at: AT },
  connected_at: AT,
  next_attempt_at: null,
};

describe('upstreams', () => {
  it('are listed as the server shows them', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, { upstreams: [upstream] }));
    expect(await clientOf(server).upstreams()).toEqual([upstream]);
    expect(server.seen[0]).toMatchObject({ method: 'GET', path: '/v1/upstreams' });
  });

  it('are rejected if a change has no accepted version', async () => {
    const [tool] = upstream.tools;
    const change = { since: AT, differences: [] };
    const server = await fakeServer((_seen, response) =>
      json(response, 200, { upstreams: [{ ...upstream, tools: [{ ...tool, change }] }] }),
    );
    await expect(clientOf(server).upstreams()).rejects.toThrow(
      '"upstreams[0].tools[0].change.from" is not a string',
    );
  });

  it('are reloaded and restarted', async () => {
    const server = await fakeServer(({ path }, response) =>
      json(
        response,
        200,
        path.endsWith('reload') ? { added: ['a'], removed: [], restarted: ['b'] } : { name: 'a' },
      ),
    );
    expect(await clientOf(server).reloadUpstreams()).toEqual({ added: ['a'], removed: [], restarted: ['b'] });
    await clientOf(server).restartUpstream('a/b');
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/upstreams/reload',
      'POST /v1/upstreams/a%2Fb/restart',
    ]);
  });

  it('get their contracts accepted, all or that of one tool', async () => {
    const server = await fakeServer((_seen, response) =>
      json(response, 200, { accepted: ['github.search'] }),
    );
    const versions = { 'github.search': 'v2' };
    expect(await clientOf(server).acceptContracts('github', versions)).toEqual({
      accepted: ['github.search'],
    });
    expect(server.seen.map(({ path, body }) => ({ path, body }))).toEqual([
      { path: '/v1/upstreams/github/accept', body: { versions } },
    ]);
  });
});
