import type { PolicyReviewView, PolicyView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { closedAfterEach } from '../support/after-each.ts';
import { platformsOfTests, type TestPlatform } from './support/a-platform.ts';
import { deleteTool, echoTool } from './support/scene.ts';

const closeLater = closedAfterEach();

const aServer = platformsOfTests(closeLater, { tools: [echoTool, deleteTool] });

const TYPO = { default: { requireApprovalTools: ['toy.ecoh', 'toy.*'] } };
const WARNING = {
  code: 'pattern_matches_nothing',
  params: { rule: 'default.requireApprovalTools[0]', pattern: 'toy.ecoh', meant: 'toy.echo' },
  message:
    'default.requireApprovalTools[0]: "toy.ecoh" matches no tool that is registered now; did you mean toy.echo?',
};

describe('a policy with a pattern that matches no tool', () => {
  it('is saved, and every view of it has a warning', async () => {
    const server = await aServer();
    const replaced = await server.asOperator('PUT', '/v1/policy', { document: TYPO });
    expect(replaced.status).toBe(200);
    const read = await server.asOperator('GET', '/v1/policy');
    for (const { json } of [replaced, read]) {
      const { version, warnings, matches } = json as PolicyView;
      expect({ version, warnings }).toEqual({ version: 1, warnings: [WARNING] });
      expect(matches.map(({ pattern, count }) => [pattern, count])).toEqual([
        ['toy.ecoh', 0],
        ['toy.*', 2],
      ]);
      expect(matches[1]?.tools).toEqual(['toy.delete', 'toy.echo']);
    }
  });

  it('is warned about before it is in force, and no longer once such a tool is registered', async () => {
    const server = await aServer();
    const check = async (): Promise<PolicyReviewView> =>
      (await server.asOperator('POST', '/v1/policy/check', { document: TYPO })).json as PolicyReviewView;
    expect((await check()).warnings).toEqual([WARNING]);
    expect((await server.asOperator('GET', '/v1/policy')).json).toMatchObject({ version: 0, warnings: [] });
    const tools = [{ name: 'toy.ecoh', description: 'as it is written', schema: { type: 'object' } }];
    const body = { client_id: 'phone', tools };
    const registered = await server.ask({ method: 'POST', path: '/internal/tools/register', body });
    expect(registered.text).toContain('"registered_count":1');
    expect((await check()).warnings).toEqual([]);
  });

  it('is named in the log of a server that starts with it, if a tool of nearly that name is there', async () => {
    const policy = { default: { requireApprovalTools: ['toy.ecoh', 'phone.ring'] } };
    const server = await aServer({ config: { policy } });
    const lines = server
      .log()
      .split('\n')
      .filter((line) => line.includes('"policy.warning"'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      code: 'pattern_matches_nothing',
      pattern: 'toy.ecoh',
      meant: 'toy.echo',
    });
  });

  it('is refused by a check only when it cannot be read, with the places', async () => {
    const server = await aServer();
    const document = { default: { mode: 'maybe' } };
    const refused = await server.asOperator('POST', '/v1/policy/check', { document });
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ code: 'body_invalid', errors: [{ path: '/default/mode' }] });
  });
});

describe('a policy for an agent', () => {
  const document = { agents: { ada: { mode: 'ask' }, bob: { mode: 'ask' } } };
  const agentsWarnedOf = async (server: TestPlatform): Promise<(string | undefined)[]> => {
    const { json } = await server.asOperator('POST', '/v1/policy/check', { document });
    const { warnings } = json as PolicyReviewView;
    return warnings.filter(({ code }) => code === 'agent_without_key').map(({ params }) => params['agent']);
  };

  it('without a key causes a warning if keys are the only credentials', async () => {
    const server = await aServer();
    expect(await agentsWarnedOf(server)).toEqual([]);
    const { id } = await server.mint({ kind: 'agent', name: 'ada' });
    await server.mint({ kind: 'agent', name: 'bob', tenant: 'acme' });
    expect(await agentsWarnedOf(server)).toEqual(['bob']);
    await server.mint({ kind: 'agent', name: 'bob' });
    expect(await agentsWarnedOf(server)).toEqual([]);
    await server.asOperator('DELETE', `/v1/keys/${id}`);
    expect(await agentsWarnedOf(server)).toEqual(['ada']);
  });

  it('is not warned about where an issuer of tokens knows agents that nothing here lists', async () => {
    const jwt = {
      issuer: 'https://issuer.example',
      audience: 'patchboard',
      jwks_url: 'http://127.0.0.1:9/keys',
    };
    const server = await aServer({ config: { auth: { jwt } } });
    await server.mint({ kind: 'agent', name: 'ada' });
    expect(await agentsWarnedOf(server)).toEqual([]);
  });
});

describe('a policy that costs much to compare', () => {
  const LONG = `*${'a'.repeat(500)}*`;
  const rule = (glob: string): unknown => ({
    default: { rules: [{ tools: 'toy.*', effect: 'deny', when: [{ arg: '/text', glob }] }] },
  });

  it('is refused with the place of a pattern that is too long, however it is sent', async () => {
    const server = await aServer();
    const message = 'is a pattern of 502 characters, and 500 are allowed';
    const ask = { tool_name: 'toy.echo', document: rule(LONG) };
    for (const [method, path, body] of [
      ['PUT', '/v1/policy', { document: rule(LONG) }],
      ['POST', '/v1/policy/check', { document: rule(LONG) }],
      ['POST', '/v1/policy/explain', ask],
    ] as const) {
      const refused = await server.asOperator(method, path, body);
      expect(refused.json).toMatchObject({
        status: 400,
        code: 'body_invalid',
        errors: [{ path: '/default/rules/0/when/0/glob', message }],
      });
    }
    const list = { document: { default: { autoDenyTools: ['toy.*', LONG] } } };
    expect((await server.asOperator('PUT', '/v1/policy', list)).json).toMatchObject({
      errors: [{ path: '/default/autoDenyTools/1', message }],
    });
  });

  it('does not block the event loop, whatever pattern and arguments repeat', async () => {
    const server = await aServer();
    const body = {
      tool_name: 'toy.echo',
      args: { text: 'a'.repeat(1_000_000) },
      document: rule(`*${'a'.repeat(498)}b`),
    };
    const explained = await server.asOperator('POST', '/v1/policy/explain', body);
    expect(explained.json).toMatchObject({ effect: 'allow' });
    const patterns = Array.from({ length: 20_000 }, (_, index) => `toy*x${index}*`);
    const document = { default: { autoDenyTools: patterns, autoAllowTools: patterns } };
    const order: string[] = [];
    const check = async (): Promise<void> => {
      const { json } = await server.asOperator('POST', '/v1/policy/check', { document });
      expect(json).toMatchObject({ matches: { length: 1000 } });
      order.push('check');
    };
    const health = async (): Promise<void> => {
      expect((await server.ask({ method: 'GET', path: '/healthz' })).status).toBe(200);
      order.push('health');
    };
    await Promise.all([check(), health()]);
    expect(order).toEqual(['health', 'check']);
  });
});
