import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnUpstream, anUpstreamTool } from '../support/an-upstream.ts';
import { aServer, OPERATOR_TOKEN, type TestServer } from './support/a-server.ts';

const OPERATOR = { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } };
const SEARCH = anUpstreamTool({ name: 'github.search' });

let server: TestServer;
const github = new AnUpstream();
const hidden = new AnUpstream({ name: 'hidden', kind: 'openapi', tenants: ['acme'] });

beforeAll(async () => {
  server = await aServer();
  server.engine.upstreams.add(github);
  server.engine.upstreams.add(hidden);
  github.lists([SEARCH, anUpstreamTool({ name: 'github.bad', inputSchema: { type: 'nothing' } })]);
  github.becomes('connected');
});
afterAll(async () => {
  await server.close();
});

describe('GET /v1/upstreams', () => {
  it('returns state, tools and rejected tools of every upstream to the operator', async () => {
    const { json } = await server.get('/v1/upstreams', OPERATOR);
    expect(json).toMatchObject({
      upstreams: [
        {
          name: 'github',
          kind: 'mcp',
          state: 'connected',
          pack: 'mcp:github',
          on_change: 'ask',
          tools: [{ name: 'github.search', annotations: {} }],
          rejected: [{ name: 'github.bad', code: 'schema_invalid' }],
        },
        { name: 'hidden', kind: 'openapi', pack: 'openapi:hidden', tenants: ['acme'], tools: [] },
      ],
    });
  });

  it('returns to a tenant only those whose tools it has', async () => {
    const { json } = await server.get('/v1/upstreams');
    expect((json as { upstreams: { name: string }[] }).upstreams.map(({ name }) => name)).toEqual(['github']);
  });
});

describe('POST /v1/upstreams/:name/accept', () => {
  it('accepts a changed contract, whose differences the list shows, and only for the operator', async () => {
    github.lists([{ ...SEARCH, description: 'does more' }]);
    const { json } = await server.get('/v1/upstreams', OPERATOR);
    const differences = [{ path: '/description', before: 'does something', after: 'does more' }];
    expect(json).toMatchObject({ upstreams: [{ tools: [{ change: { differences } }] }, {}] });
    const { version } = json.upstreams[0].tools[0] as { version: string };
    const versions = { 'github.search': version };
    const path = '/v1/upstreams/github/accept';
    expect((await server.post(path, { versions })).json).toMatchObject({ status: 403 });
    const other = { versions: { 'github.search': 'another' } };
    expect((await server.post(path, other, OPERATOR)).json).toMatchObject({ status: 409, code: 'conflict' });
    expect((await server.post(path, { versions }, OPERATOR)).json).toEqual({ accepted: ['github.search'] });
    expect((await server.post(path, { versions }, OPERATOR)).json).toEqual({ accepted: [] });
    expect((await server.get('/v1/upstreams', OPERATOR)).text).not.toContain('"change"');
  });
});

describe('POST /v1/upstreams/:name/restart', () => {
  it('restarts the upstream, and names those that exist if there is none of that name', async () => {
    expect((await server.post('/v1/upstreams/github/restart', undefined, OPERATOR)).status).toBe(200);
    expect(github.restarts).toBe(1);
    const unknown = await server.post('/v1/upstreams/gitlab/restart', undefined, OPERATOR);
    expect(unknown.json).toMatchObject({
      status: 404,
      code: 'value_not_found',
      detail: 'there is no upstream gitlab; there are: github, hidden',
    });
  });
});

describe('POST /v1/upstreams/reload', () => {
  it('is refused where the embedding program sets the upstreams', async () => {
    expect((await server.post('/v1/upstreams/reload', undefined, OPERATOR)).json).toMatchObject({
      status: 409,
      code: 'conflict',
    });
  });
});
