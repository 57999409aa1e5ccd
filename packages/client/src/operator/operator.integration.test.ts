import type {
  ApprovalRequestView,
  CurrentSessionView,
  GrantView,
  KeyView,
  PolicyView,
} from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { aCall, clientOf, failureOf, fakeServer, json, problem } from '../../test/fake-server.ts';
import { NetworkError } from '../index.ts';

const AT = '2026-01-01T00:00:00.000Z';

const waiting: ApprovalRequestView = {
  tool_call_id: 'tc_1',
  run_id: 'run_1',
  agent_id: 'researcher',
  tool_name: 'demo.pay',
  tool_version: 'v1',
  description: 'Pays.',
  annotations: { destructive: true },
  args: { cents: 1 },
  reason: 'the tool is destructive',
  rule: 'annotations',
  meta: null,
  digest: 'd1',
  created_at: AT,
  expires_at: AT,
};

const grant: GrantView = {
  grant_id: 'gr_1',
  tool_name: 'demo.pay',
  tool_version: 'v1',
  agent_id: null,
  scope: 'predicate',
  args_sha256: null,
  when: [{ arg: '/cents', lt: 100 }],
  created_at: AT,
  created_by: 'operator',
  expires_at: null,
};

const key: KeyView = {
  key_id: 'key_1',
  tenant_id: 'default',
  kind: 'agent',
  name: 'researcher',
  scopes: ['tools:call'],
  hint: 'pb_abc',
  created_at: AT,
  created_by: 'operator',
  expires_at: null,
};

const policy: Omit<PolicyView, 'warnings' | 'matches'> = {
  version: 3,
  document: { default: {} },
  changed_at: AT,
  changed_by: 'operator',
};

describe('a call that waits for approval', () => {
  it('is listed with everything that will run', async () => {
    const server = await fakeServer((_seen, response) =>
      json(response, 200, { approvals: [waiting], next_cursor: null }),
    );
    expect((await clientOf(server).approvals({ limit: 5 }).page()).items).toEqual([waiting]);
    expect(server.seen[0]!.path).toBe('/v1/approvals?limit=5');
  });

  it('is rejected if it has no digest', async () => {
    const { digest: _digest, ...rest } = waiting;
    const server = await fakeServer((_seen, response) => json(response, 200, { approvals: [rest] }));
    await expect(clientOf(server).approvals().page()).rejects.toThrow(
      '"approvals[0].digest" is not a string',
    );
  });
});

describe('sessions.current', () => {
  it('returns who is signed in; a key and its kind only if there is one', async () => {
    const operator: CurrentSessionView = {
      kind: 'operator',
      name: 'operator',
      tenant: null,
      scopes: ['tools:call'],
      expires_at: AT,
      principal_kind: 'operator',
    };
    const auditor = { ...operator, kind: 'key', tenant: 'acme', key_id: 'key_1', principal_kind: 'service' };
    const server = await fakeServer((_seen, response, count) =>
      json(response, 200, count === 1 ? operator : auditor),
    );
    expect(await clientOf(server).sessions.current()).toEqual(operator);
    expect(await clientOf(server).sessions.current()).toEqual(auditor);
    expect(server.seen[0]).toMatchObject({ method: 'GET', path: '/v1/session' });
  });
});

describe('decide', () => {
  const decided = aCall({
    status: 'PENDING',
    state: 'APPROVED',
    args: { cents: 2 },
    approval: { required: true, digest: 'd2', expires_at: AT, decision: 'allow', note: 'less' },
  });

  it('sends the decision in the wire format', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, decided));
    const grantOptions = { scope: 'tool', thisAgentOnly: false, lifetimeSeconds: 60 } as const;
    const call = await clientOf(server).decide('tc/1', {
      decision: 'allow',
      digest: 'd1',
      note: 'less',
      args: { cents: 2 },
      grant: grantOptions,
    });
    expect(call.state).toBe('APPROVED');
    expect(server.seen[0]).toMatchObject({
      method: 'POST',
      path: '/v1/tool_calls/tc%2F1/decision',
      body: {
        decision: 'allow',
        digest: 'd1',
        note: 'less',
        args: { cents: 2 },
        grant: { scope: 'tool', this_agent_only: false, lifetime_s: 60 },
      },
    });
  });

  it('omits options that are not given', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, decided));
    await clientOf(server).decide('tc_1', { decision: 'deny', digest: 'd1' });
    expect(server.seen[0]!.body).toEqual({ decision: 'deny', digest: 'd1' });
  });

  it('returns the record when a conflict after a lost response shows that the first request worked', async () => {
    const server = await fakeServer((seen, response, count) => {
      if (count === 1) response.destroy();
      else if (seen.method === 'POST') problem(response, 409, 'conflict', { state: 'APPROVED' });
      else json(response, 200, decided);
    });
    const wanted = { decision: 'allow', digest: 'd1', args: { cents: 2 }, note: 'less' } as const;
    expect((await clientOf(server).decide('tc_1', wanted)).state).toBe('APPROVED');
  });

  it.each([
    ['made the opposite decision', { decision: 'deny', digest: 'd1', note: 'less' }],
    ['decided with another note', { decision: 'allow', digest: 'd2', note: 'more' }],
    ['allowed other arguments', { decision: 'allow', digest: 'd1', note: 'less' }],
  ] as const)('throws the conflict when another operator %s meanwhile', async (_what, wanted) => {
    const server = await fakeServer((seen, response, count) => {
      if (count === 1) response.destroy();
      else if (seen.method === 'POST') problem(response, 409, 'conflict', { state: 'APPROVED' });
      else json(response, 200, decided);
    });
    expect(await failureOf(clientOf(server).decide('tc_1', wanted))).toMatchObject({ code: 'conflict' });
  });

  it('throws a first conflict at once', async () => {
    const server = await fakeServer((_seen, response) => problem(response, 409, 'conflict'));
    const failure = await failureOf(clientOf(server).decide('tc_1', { decision: 'deny', digest: 'x' }));
    expect(failure.code).toBe('conflict');
    expect(server.seen).toHaveLength(1);
  });
});

describe('keys', () => {
  it('are created, listed and revoked', async () => {
    const server = await fakeServer((seen, response) => {
      if (seen.method === 'GET') json(response, 200, { keys: [key], next_cursor: null });
      else if (seen.method === 'POST') json(response, 201, { ...key, key: 'pb_secret' });
      else json(response, 200, key);
    });
    const { keys } = clientOf(server);
    const wanted = {
      kind: 'agent',
      name: 'researcher',
      scopes: ['tools:call'],
      expiresAt: new Date(0),
    } as const;
    expect((await keys.create(wanted)).key).toBe('pb_secret');
    expect((await keys.list().page()).items).toEqual([key]);
    expect(await keys.revoke('key/1')).toEqual(key);
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/keys',
      'GET /v1/keys',
      'DELETE /v1/keys/key%2F1',
    ]);
    expect(server.seen[0]!.body).toEqual({
      kind: 'agent',
      name: 'researcher',
      scopes: ['tools:call'],
      expires_at: '1970-01-01T00:00:00.000Z',
    });
  });

  it('are not created twice: the request is never retried', async () => {
    const server = await fakeServer((_seen, response) => void response.destroy());
    const made = clientOf(server).keys.create({ kind: 'client', name: 'phone' });
    expect(await failureOf(made)).toBeInstanceOf(NetworkError);
    expect(server.seen).toHaveLength(1);
  });

  it('are rejected in a response without a secret', async () => {
    const server = await fakeServer((_seen, response) => json(response, 201, key));
    await expect(clientOf(server).keys.create({ kind: 'agent', name: 'a' })).rejects.toThrow(
      '"key" is not a string',
    );
  });
});

describe('grants', () => {
  it('are listed and revoked', async () => {
    const server = await fakeServer((seen, response) =>
      json(response, 200, seen.method === 'GET' ? { grants: [grant] } : grant),
    );
    const { grants } = clientOf(server);
    expect((await grants.list().page()).items).toEqual([grant]);
    expect(await grants.revoke('gr_1')).toEqual(grant);
    expect(server.seen[1]).toMatchObject({ method: 'DELETE', path: '/v1/grants/gr_1' });
  });
});

describe('policy', () => {
  it('is read and replaced', async () => {
    const server = await fakeServer((_seen, response) => json(response, 200, policy));
    const client = clientOf(server);
    // An older server sends no warnings.
    const view = { ...policy, warnings: [], matches: [] };
    expect(await client.policy.get()).toEqual(view);
    expect(await client.policy.replace({ default: {} }, { version: 2 })).toEqual(view);
    expect(server.seen[1]).toMatchObject({
      method: 'PUT',
      path: '/v1/policy',
      body: { document: { default: {} }, version: 2 },
    });
  });

  it('is checked without being activated', async () => {
    const review = {
      warnings: [{ code: 'pattern_matches_nothing', params: { pattern: 'demo.ecoh' }, message: 'no tool' }],
      matches: [{ rule: 'default.autoAllowTools[0]', pattern: 'demo.ecoh', count: 0, tools: [] }],
    };
    const server = await fakeServer((_seen, response) => json(response, 200, review));
    expect(await clientOf(server).policy.check({ default: {} })).toEqual(review);
    expect(server.seen[0]).toMatchObject({
      method: 'POST',
      path: '/v1/policy/check',
      body: { document: { default: {} } },
    });
  });

  it('is explained', async () => {
    const view = {
      effect: 'ask',
      rule: 'default.mode',
      reason: 'mode is ask',
      policy_version: null,
      listed: true,
      also_matched: [{ rule: 'annotations', effect: 'allow', reason: 'not risky' }],
    };
    const server = await fakeServer((_seen, response) => json(response, 200, view));
    const question = { toolName: 'demo.pay', agentId: 'a', args: { cents: 1 }, document: {} };
    expect(await clientOf(server).policy.explain(question)).toEqual(view);
    expect(server.seen[0]!.body).toEqual({
      tool_name: 'demo.pay',
      agent_id: 'a',
      args: { cents: 1 },
      document: {},
    });
  });
});
