import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { ServerTool } from '../../src/core/tools/server-tool.ts';
import {
  aDataFolder,
  aPlatform,
  platformsOfTests,
  type MintedKey,
  type TestPlatform,
} from './support/a-platform.ts';
import { SCHEMA, askingTool, callAs, aWaitingCall, waiting, ledgerOf } from './support/asking.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { openSse } from '../http/support/sse-reader.ts';

const closeLater = closedAfterEach();

const aServer = platformsOfTests(closeLater);

describe('a decision', () => {
  it('is accepted once out of fifty in parallel', async () => {
    const { tool, ran } = askingTool();
    const server = await aServer({ tools: [tool] });
    const call = await aWaitingCall(server);
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        call.decide({ decision: index % 2 === 0 ? 'allow' : 'deny', note: `number ${index}` }),
      ),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    const others = responses.filter(({ status }) => status !== 200);
    expect(others.map(({ status, json }) => [status, json.code])).toEqual(
      others.map(() => [409, 'conflict']),
    );
    const record = await call.record();
    expect(ran).toHaveLength(record.approval.decision === 'allow' ? 1 : 0);
    expect(record.approval.note).toBe(responses.find(({ status }) => status === 200)?.json.approval.note);
    const decided = (await ledgerOf(server, call.id)).filter(({ kind }) => kind === 'permission_decided');
    expect(decided).toHaveLength(1);
  });

  it('that denies reaches the record with its note, and nothing runs', async () => {
    const { tool, ran } = askingTool();
    const server = await aServer({ tools: [tool] });
    const call = await aWaitingCall(server);
    const response = await call.decide({ decision: 'deny', note: 'not on a Friday' });
    expect(response.json).toMatchObject({
      state: 'DENIED',
      error: {
        code: 'approval_denied',
        message: 'Permission denied by user',
        note: 'not on a Friday',
      },
      approval: { decision: 'deny', decided_by: 'operator', note: 'not on a Friday' },
    });
    expect(ran).toEqual([]);
  });

  it('is not valid for another call, not even one with the same arguments', async () => {
    const { tool, ran } = askingTool();
    const server = await aServer({ tools: [tool] });
    const [call, twin] = [await aWaitingCall(server), await aWaitingCall(server)];
    expect(call.digest).not.toBe(twin.digest);
    const response = await call.decide({ decision: 'allow', digest: twin.digest });
    expect([response.status, response.json.code]).toEqual([409, 'conflict']);
    expect(ran).toEqual([]);
    expect((await twin.decide({ decision: 'allow' })).status).toBe(200);
    expect((await call.decide({ decision: 'deny' })).status).toBe(200);
  });

  it.each([
    ['another digest', { decision: 'allow', digest: '0'.repeat(64) }, 409, 'conflict'],
    ['arguments that do not fit', { decision: 'allow', args: { path: 7 } }, 422, 'input_invalid'],
    ['a member that is not known', { decision: 'allow', args: { evil: 1 } }, 422, 'input_invalid'],
    ['a word that is no decision', { decision: 'perhaps' }, 400, 'body_invalid'],
    [
      'a grant that tests nothing',
      { decision: 'allow', grant: { scope: 'predicate', when: [] } },
      400,
      'body_invalid',
    ],
    [
      'a grant with a condition that tests nothing',
      { decision: 'allow', grant: { scope: 'predicate', when: [{ arg: '/path' }] } },
      400,
      'body_invalid',
    ],
  ])('with %s changes nothing', async (_what, body, status, code) => {
    const { tool, ran } = askingTool();
    const server = await aServer({ tools: [tool] });
    const call = await aWaitingCall(server);
    const head = await server.store.ledgerHead();
    const response = await call.decide(body);
    expect([response.status, response.json.code]).toEqual([status, code]);
    expect(await server.store.ledgerHead()).toEqual(head);
    expect((await call.decide({ decision: 'deny' })).status).toBe(200);
    expect(ran).toEqual([]);
  });

  it('cannot be made by the requesting agent, whatever its scopes', async () => {
    const { tool, ran } = askingTool();
    const server = await aServer({ tools: [tool] });
    const scopes = ['tools:call', 'calls:read', 'approvals:decide'];
    const keys: MintedKey[] = [
      await server.mint({ kind: 'agent', name: 'ada', scopes }),
      // The same name under another hat is the same one.
      await server.mint({ kind: 'operator', name: 'ada' }),
      await server.mint({ kind: 'service', name: 'ada', scopes }),
    ];
    const call = await aWaitingCall(server, {}, keys[0]!.headers);
    for (const { headers } of keys) {
      const response = await server.ask({
        method: 'POST',
        path: `/v1/tool_calls/${call.id}/decision`,
        headers,
        body: { decision: 'allow', digest: call.digest },
      });
      expect([response.status, response.json.code]).toEqual([403, 'permission_denied']);
    }
    expect(ran).toEqual([]);
  });

  it('cannot be made in local mode', async () => {
    const { tool, ran } = askingTool();
    const server = await aServer({ tools: [tool] });
    const call = await aWaitingCall(server);
    for (const agent of ['local', 'operator', 'somebody']) {
      const response = await server.ask({
        method: 'POST',
        path: `/v1/tool_calls/${call.id}/decision`,
        headers: { 'x-agent-id': agent },
        body: { decision: 'allow', digest: call.digest },
      });
      expect(response.status).toBe(403);
    }
    expect(ran).toEqual([]);
  });
});

describe('an edit', () => {
  it('runs instead, keeps the original, and is in the ledger as a diff', async () => {
    const { tool, ran } = askingTool();
    const server = await aServer({ tools: [tool] });
    const call = await aWaitingCall(server, { path: '/tmp/x', cents: 5 });
    await call.decide({ decision: 'allow', args: { path: '/tmp/y' }, note: 'rather this' });
    const record = await call.record();
    expect(ran).toEqual([{ path: '/tmp/y' }]);
    expect(record).toMatchObject({
      state: 'COMPLETED',
      args: { path: '/tmp/y' },
      approval: { original_args: { path: '/tmp/x', cents: 5 }, note: 'rather this' },
    });
    expect(record.approval.digest).not.toBe(call.digest);
    const rows = await ledgerOf(server, call.id);
    expect(rows.find(({ kind }) => kind === 'permission_decided')?.body).toMatchObject({
      edits: [
        { path: '/cents', before: 5 },
        { path: '/path', before: '/tmp/x', after: '/tmp/y' },
      ],
    });
  });

  it('cannot be one that policy denies', async () => {
    const { tool, ran } = askingTool();
    const server = await aServer({
      tools: [tool],
      config: {
        policy: {
          default: {
            rules: [{ tools: 'toy.*', effect: 'deny', when: [{ arg: '/path', prefix: '/etc' }] }],
          },
        },
      },
    });
    const call = await aWaitingCall(server);
    const response = await call.decide({ decision: 'allow', args: { path: '/etc/passwd' } });
    expect([response.status, response.json.code]).toEqual([403, 'permission_denied']);
    expect(ran).toEqual([]);
    expect((await call.decide({ decision: 'allow' })).status).toBe(200);
    await call.record();
    expect(ran).toEqual([{ path: '/tmp/x' }]);
  });
});

describe('a request that waits', () => {
  it('is not approved once policy denies it', async () => {
    const { tool, ran } = askingTool();
    const server = await aServer({ tools: [tool] });
    const call = await aWaitingCall(server);
    await server.asOperator('PUT', '/v1/policy', { document: { default: { mode: 'deny' } } });
    expect((await call.decide({ decision: 'allow' })).status).toBe(403);
    expect(ran).toEqual([]);
  });

  it('ends once: decisions race a cancel, and what was cancelled never runs', async () => {
    const { tool, ran } = askingTool();
    const server = await aServer({ tools: [tool] });
    const outcomes = new Set<string>();
    for (let round = 0; round < 26; round += 1) {
      ran.length = 0;
      const call = await aWaitingCall(server);
      const cancel = () => server.ask({ method: 'POST', path: `/v1/tool_calls/${call.id}/cancel`, body: {} });
      const allow = () => call.decide({ decision: 'allow' });
      const [first, second] = round % 2 === 0 ? [cancel, allow] : [allow, cancel];
      const leading = first();
      // The first rounds are decided before the other comes, so that each of the two wins at least once.
      if (round < 2) await leading;
      const responses = await Promise.all([leading, second(), allow()]);
      const record = await call.record();
      const states = (record.timeline as { state: string }[]).map(({ state }) => state);
      const endings = states.filter((state) => ['COMPLETED', 'CANCELLED', 'DENIED'].includes(state));
      expect(endings).toHaveLength(1);
      if (!states.includes('EXECUTING')) expect(ran).toEqual([]);
      if (record.state === 'COMPLETED') expect(ran).toHaveLength(1);
      expect(responses.map(({ status }) => status).filter((status) => ![200, 409].includes(status))).toEqual(
        [],
      );
      expect(responses.map(({ status }) => status)).toContain(200);
      outcomes.add(record.state as string);
    }
    expect(outcomes).toEqual(new Set(['CANCELLED', 'COMPLETED']));
  });

  it('waits over a restart, and is decided afterwards', async () => {
    const { tool, ran } = askingTool();
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const first = await aPlatform({ tools: [tool], folder });
    const { id, digest } = await aWaitingCall(first);
    await first.close();
    const second = await aServer({ tools: [tool], folder });
    const call = await waiting(second, id);
    expect(call.digest).toBe(digest);
    expect((await call.decide({ decision: 'allow', note: 'after the restart' })).status).toBe(200);
    expect(await call.record()).toMatchObject({
      state: 'COMPLETED',
      approval: { note: 'after the restart' },
    });
    expect(ran).toEqual([{ path: '/tmp/x' }]);
  });

  it('has expired after a restart that took too long', async () => {
    const { tool, ran } = askingTool();
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const first = await aPlatform({ tools: [tool], folder });
    const { id, digest } = await aWaitingCall(first);
    await first.close();
    // As if ten minutes had gone by: the deadline in the record lies in the past.
    moveDeadline(folder.storeFile, id, Date.now() - 1000);
    const second = await aServer({ tools: [tool], folder });
    const response = await second.asOperator('POST', `/v1/tool_calls/${id}/decision`, {
      decision: 'allow',
      digest,
    });
    expect([response.status, response.json.code]).toEqual([409, 'conflict']);
    const record = await second.asOperator('GET', `/v1/tool_calls/${id}`);
    expect(record.json).toMatchObject({ state: 'DENIED', error: { code: 'approval_expired' } });
    expect(ran).toEqual([]);
  });

  it.each([
    ['the arguments', "update calls set args = replace(args, '/tmp/x', '/etc/passwd')"],
    ['the tool', "update calls set tool_name = 'toy.other'"],
    ['the agent', "update calls set agent_id = 'somebody'"],
    ['the run', "update calls set run_id = 'run_2'"],
    ['the contract', "update calls set tool_version = 'v0'"],
  ])('is refused and recorded when %s was changed in the file meanwhile', async (_what, sql) => {
    const { tool, ran } = askingTool();
    const other = askingTool({ name: 'toy.other' });
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const tools = [tool, other.tool];
    const first = await aPlatform({ tools, folder });
    const { id, digest } = await aWaitingCall(first);
    await first.close();
    const file = new DatabaseSync(folder.storeFile);
    file.exec(sql);
    file.close();
    const second = await aServer({ tools, folder });
    const response = await second.asOperator('POST', `/v1/tool_calls/${id}/decision`, {
      decision: 'allow',
      digest,
    });
    expect([response.status, response.json.code]).toEqual([409, 'conflict']);
    const record = await second.asOperator('GET', `/v1/tool_calls/${id}`);
    expect(record.json).toMatchObject({ state: 'DENIED', error: { code: 'approval_denied' } });
    expect([...ran, ...other.ran]).toEqual([]);
    const rows = await ledgerOf(second, id);
    expect(rows.at(-1)?.body).toMatchObject({ state: 'DENIED', code: 'approval_denied' });
  });
});

function moveDeadline(file: string, id: string, to: number): void {
  const database = new DatabaseSync(file);
  const row = database.prepare('select tail from calls where id = ?').get(id) as { tail: string };
  const tail = row.tail.replaceAll(/("(?:deadlineAt|expiresAt)":)\d+/g, `$1${to}`);
  expect(tail).not.toBe(row.tail);
  database.prepare('update calls set tail = ? where id = ?').run(tail, id);
  database.close();
}

describe('a grant', () => {
  async function granted(
    grant: Record<string, unknown>,
    given: Partial<ServerTool> = {},
  ): Promise<{ server: TestPlatform; asks: (args: unknown, agent?: string) => Promise<boolean> }> {
    const { tool } = askingTool(given);
    const server = await aServer({ tools: [tool] });
    const call = await aWaitingCall(server, { path: '/tmp/x', cents: 5 }, { 'x-agent-id': 'ada' });
    expect((await call.decide({ decision: 'allow', grant })).status).toBe(200);
    const asks = async (args: unknown, agent = 'ada'): Promise<boolean> => {
      const path = '/v1/tools/toy.delete/invoke?dry_run=true';
      const headers = { 'x-agent-id': agent };
      const response = await server.ask({ method: 'POST', path, headers, body: { run_id: 'r', args } });
      return (response.json as { decision: { effect: string } }).decision.effect === 'ask';
    };
    return { server, asks };
  }

  it('for exactly these arguments covers them in any order, and no others', async () => {
    const { asks } = await granted({ scope: 'exact' });
    expect(await asks({ cents: 5, path: '/tmp/x' })).toBe(false);
    expect(await asks({ cents: 6, path: '/tmp/x' })).toBe(true);
    expect(await asks({ path: '/tmp/x' })).toBe(true);
  });

  it('for a predicate covers arguments that match all conditions', async () => {
    const when = [
      { arg: '/cents', lte: 10 },
      { arg: '/path', prefix: '/tmp/' },
    ];
    const { asks } = await granted({ scope: 'predicate', when });
    expect(await asks({ cents: 10, path: '/tmp/y' })).toBe(false);
    expect(await asks({ cents: 11, path: '/tmp/y' })).toBe(true);
    expect(await asks({ cents: 10, path: '/etc/y' })).toBe(true);
    expect(await asks({ cents: 10 })).toBe(true);
  });

  it('is for the agent that asked, unless the operator says for all', async () => {
    const own = await granted({ scope: 'tool' });
    expect(await own.asks({})).toBe(false);
    expect(await own.asks({}, 'bob')).toBe(true);
    const all = await granted({ scope: 'tool', this_agent_only: false });
    expect(await all.asks({}, 'bob')).toBe(false);
  });

  it('ends when it is revoked, and cannot be revoked from another tenant', async () => {
    const { server, asks } = await granted({ scope: 'tool' });
    const { grants } = (await server.asOperator('GET', '/v1/grants')).json as {
      grants: { grant_id: string; expires_at: string | null }[];
    };
    const path = `/v1/grants/${grants[0]!.grant_id}`;
    expect((await server.asOperator('DELETE', path, undefined, 'other')).status).toBe(404);
    expect(await asks({})).toBe(false);
    expect((await server.asOperator('DELETE', path)).status).toBe(200);
    expect(await asks({})).toBe(true);
  });

  it('does not override a deny', async () => {
    const { server } = await granted({ scope: 'tool' });
    await server.asOperator('PUT', '/v1/policy', {
      document: {
        default: { rules: [{ tools: 'toy.*', effect: 'deny', when: [{ arg: '/cents', gt: 1 }] }] },
      },
    });
    const response = await callAs(server, { 'x-agent-id': 'ada' }, { cents: 2 });
    expect([response.status, response.json.code]).toEqual([403, 'permission_denied']);
  });

  it("survives a restart, and is not valid once the tool's contract changes", async () => {
    const { tool } = askingTool();
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const first = await aPlatform({ tools: [tool], folder });
    const call = await aWaitingCall(first);
    await call.decide({ decision: 'allow', grant: { scope: 'tool', lifetime_s: 3600 } });
    await first.close();
    const same = await aPlatform({ tools: [tool], folder });
    expect((await callAs(same, {}, {}, 'wait=10')).json).toMatchObject({
      state: 'COMPLETED',
      decision: { effect: 'allow', rule: expect.stringMatching(/^grant:gr_/) as string },
    });
    await same.close();
    const changed = askingTool({ description: 'deletes everything' });
    const other = await aServer({ tools: [changed.tool], folder });
    const response = await callAs(other, {}, {});
    const record = await other.asOperator('GET', `/v1/tool_calls/${response.json.tool_call_id}`);
    expect(record.json.state).toBe('APPROVAL_REQUIRED');
    expect(changed.ran).toEqual([]);
  });
});

describe('a call that says in the file that it was approved', () => {
  it.each([
    ['as it was asked for', '{"path":"/tmp/x"}'],
    ['with other arguments', '{"path":"/etc/passwd"}'],
  ])('does not run when the ledger knows nothing of it, %s', async (_how, args) => {
    const { tool, ran } = askingTool();
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const first = await aPlatform({ tools: [tool], folder });
    const { id } = await aWaitingCall(first);
    await first.close();
    const file = new DatabaseSync(folder.storeFile);
    const row = file.prepare('select tail from calls where id = ?').get(id) as { tail: string };
    const tail = row.tail
      .replaceAll('APPROVAL_REQUIRED', 'APPROVED')
      .replace('"decision":null', '"decision":"allow"');
    file.prepare('update calls set tail = ?, args = ?, state = 2 where id = ?').run(tail, args, id);
    file.close();
    const second = await aServer({ tools: [tool], folder });
    const record = await second.asOperator('GET', `/v1/tool_calls/${id}`);
    expect(record.json).toMatchObject({ state: 'DENIED', error: { code: 'approval_denied' } });
    expect(ran).toEqual([]);
  });
});

describe('a request that waits in the stream of its client', () => {
  it("is not sent once its tool's contract differs from the approved one", async () => {
    const server = await aServer();
    const register = async (schema: object): Promise<void> => {
      const annotations = { destructive: true };
      const tools = [
        { name: 'plain', schema: {} },
        { name: 'toy.delete', schema, annotations },
      ];
      const body = { client_id: 'c1', tools };
      expect((await server.ask({ method: 'POST', path: '/internal/tools/register', body })).json.ok).toBe(
        true,
      );
    };
    const plain = async (args: object): Promise<void> => {
      const path = '/v1/tools/plain/invoke';
      await server.ask({ method: 'POST', path, body: { run_id: 'run_2', args } });
    };
    await register(SCHEMA);
    const pad = 'x'.repeat(200_000);
    for (let n = 0; n < 99; n += 1) await plain({ pad });
    const approved = await aWaitingCall(server);
    expect((await approved.decide({ decision: 'allow' })).status).toBe(200);
    const stream = await openSse(`http://127.0.0.1:${server.port}/internal/clients/c1/requests`);
    closeLater(() => stream.close());
    await register({ ...SCHEMA, required: ['path'] });
    await plain({ last: true });
    const sent: { tool_call_id: string; args: { last?: boolean } }[] = [];
    while (sent.at(-1)?.args.last !== true) sent.push(JSON.parse((await stream.next())!.data));
    expect(sent).toHaveLength(100);
    expect(sent.map(({ tool_call_id: id }) => id)).not.toContain(approved.id);
  });
});
