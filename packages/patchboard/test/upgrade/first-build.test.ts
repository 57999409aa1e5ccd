import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '../../src/core/ledger/ledger-check.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { readOnlyStore } from '../../src/store/sqlite/read-only.ts';
import { readHead } from '../../src/store/sqlite/store-head.ts';
import { aDataFolder, aPlatform, type DataFolder, type TestPlatform } from '../guard/support/a-platform.ts';
import type { TestResponse } from '../guard/support/ask.ts';

interface Manifest {
  readonly keys: Readonly<Record<string, { readonly key_id: string; readonly key: string }>>;
  readonly calls: Readonly<Record<string, RecordedCall>>;
  readonly policy_version: number;
  readonly wire_names: readonly { readonly name: string; readonly wire_name: string }[];
  readonly grants: readonly string[];
  readonly ledger: { readonly head: { readonly seq: number; readonly hash: string } };
}

interface RecordedCall {
  readonly tool_call_id: string;
  readonly tool: string;
  readonly state: string;
  readonly digest?: string;
  readonly attempt_token?: string;
}

interface ToolRequest {
  readonly tool_call_id: string;
  readonly attempt_token: string;
  readonly args: unknown;
}

const FIXTURE = join(import.meta.dirname, 'first-build');
const manifest = JSON.parse(readFileSync(join(FIXTURE, 'manifest.json'), 'utf8')) as Manifest;
/** As the first build was configured: a time limit of a century is allowed. */
const CONFIG = {
  limits: { max_timeout_ms: 3_155_760_000_000 },
  tenants: { acme: { sites: ['north', 'south'], packs: ['essentials', 'heritage'] } },
};

let folder: DataFolder;
let server: TestPlatform;

beforeAll(async () => {
  folder = aDataFolder();
  mkdirSync(folder.path, { recursive: true });
  for (const file of ['patchboard.db', 'patchboard.db-wal', 'operator.token'])
    cpSync(join(FIXTURE, file), join(folder.path, file));
  server = await aPlatform({ folder, config: CONFIG });
});
afterAll(() => folder.remove());

const as = (name: string): { authorization: string } => ({
  authorization: `Bearer ${manifest.keys[name]?.key ?? ''}`,
});

const callOf = (label: string): RecordedCall => {
  const call = manifest.calls[label];
  if (call === undefined) throw new Error(`the manifest has no call ${label}`);
  return call;
};

async function record(label: string, agent = 'planner'): Promise<TestResponse['json']> {
  const headers = { ...as(agent), prefer: 'wait=20' };
  const path = `/v1/tool_calls/${callOf(label).tool_call_id}`;
  return (await server.ask({ method: 'GET', path, headers })).json;
}

async function stateOf(label: string, agent = 'planner'): Promise<string> {
  const path = `/v1/tool_calls/${callOf(label).tool_call_id}`;
  return ((await server.ask({ method: 'GET', path, headers: as(agent) })).json as { state: string }).state;
}

async function waiting(): Promise<Map<string, { digest: string; args: unknown }>> {
  const { json } = await server.asOperator('GET', '/v1/approvals');
  const { approvals } = json as { approvals: { tool_call_id: string; digest: string; args: unknown }[] };
  return new Map(approvals.map((approval) => [approval.tool_call_id, approval]));
}

const decide = (label: string, body: Record<string, unknown>): Promise<TestResponse> => {
  const { tool_call_id: id, digest } = callOf(label);
  return server.asOperator('POST', `/v1/tool_calls/${id}/decision`, { digest, ...body });
};

async function requests(): Promise<Map<string, ToolRequest>> {
  const path = '/internal/clients/phone/requests?wait=0';
  const { json } = await server.ask({ method: 'GET', path, headers: as('phone') });
  return new Map((json as { requests: ToolRequest[] }).requests.map((one) => [one.tool_call_id, one]));
}

async function submit(label: string, attemptToken: string): Promise<void> {
  const response = await server.ask({
    method: 'POST',
    path: `/internal/tool_calls/${callOf(label).tool_call_id}/submit`,
    headers: as('phone'),
    body: { status: 'SUCCEEDED', result: { done: label }, attempt_token: attemptToken },
  });
  expect([response.status, response.json]).toMatchObject([200, { ok: true }]);
  expect(await record(label)).toMatchObject({ state: 'COMPLETED', result: { done: label } });
}

async function invoke(
  tool: string,
  args: unknown,
  run: string,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  const path = `/v1/tools/${encodeURIComponent(tool)}/invoke`;
  const body = { run_id: run, args };
  return await server.ask({ method: 'POST', path, headers: { ...as('planner'), ...headers }, body });
}

// In order: what one test ends, a later one counts.
describe('a data folder of the first build', () => {
  it('has every call that had ended as it was', async () => {
    const ended = ['completed', 'failed', 'denied_by_policy', 'timed_out', 'cancelled', 'sealed'];
    ended.push('denied_by_operator', 'granted');
    for (const label of ended) expect([label, await stateOf(label)]).toEqual([label, callOf(label).state]);
    expect(await stateOf('completed_of_acme', 'acme-agent')).toBe('COMPLETED');
    expect(await record('completed')).toMatchObject({ result: { value: 42 } });
    expect(await record('granted')).toMatchObject({ result: { wiped: 4 } });
  });

  it('seals what the server was executing, and runs what had not begun', async () => {
    expect(await record('executing_server')).toMatchObject({
      state: 'SEALED',
      error: { code: 'interrupted', outcome: 'unknown' },
    });
    expect(await record('pending_server')).toMatchObject({ state: 'COMPLETED', result: { value: 2 } });
  });

  it('keeps keys, policy, grants, tenants and tools', async () => {
    const statuses = Object.keys(manifest.keys).map(async (name) => {
      const asked = { method: 'GET', path: '/v1/tools', headers: as(name) };
      return [name, (await server.ask(asked)).status];
    });
    expect(Object.fromEntries(await Promise.all(statuses))).toEqual({
      planner: 200,
      'spare-agent': 200,
      phone: 403,
      'night-shift': 200,
      'acme-agent': 200,
      'soon-over': 200,
      'revoked-agent': 401,
    });
    expect((await server.ask({ method: 'GET', path: '/v1/tools' })).status).toBe(401);
    expect((await server.asOperator('GET', '/v1/policy')).json).toMatchObject({
      version: manifest.policy_version,
    });
    const { grants } = (await server.asOperator('GET', '/v1/grants')).json as {
      grants: { grant_id: string }[];
    };
    expect(grants.map((grant) => grant.grant_id)).toEqual(manifest.grants);
    expect((await server.asOperator('GET', '/v1/tenants')).text).toContain('"village"');
    const { tools } = (await server.ask({ method: 'GET', path: '/v1/tools', headers: as('planner') }))
      .json as { tools: { name: string; wire_name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(manifest.wire_names.map(({ name }) => name)),
    );
  });

  it('lists its long wire names in a shorter form, and finds the tools by either', async () => {
    const show = async (name: string): Promise<{ name: string; wire_name: string }> =>
      (await server.ask({ method: 'GET', path: `/v1/tools/${name}`, headers: as('planner') })).json as never;
    for (const { name, wire_name: before } of manifest.wire_names) {
      const { wire_name: now } = await show(name);
      expect([before.length, now.length]).toEqual([64, 48]);
      for (const given of [before, now]) expect(await show(given)).toMatchObject({ name, wire_name: now });
    }
  });

  it('takes an idempotency key for the call that it was used for', async () => {
    const keyed = async (key: string, tool: string, args: unknown, run: string): Promise<unknown> =>
      ((await invoke(tool, args, run, { 'idempotency-key': key })).json as { tool_call_id: string })
        .tool_call_id;
    expect([
      await keyed('fixture-key-1', 'calculation.eval', { expression: '6*7' }, 'run_fixture'),
      await keyed('fixture-key-2', 'camera.photo', { n: 11 }, 'run_client'),
    ]).toEqual([callOf('completed').tool_call_id, callOf('pending_client').tool_call_id]);
  });

  it('lets an operator decide what waited, with the digest that the first build showed', async () => {
    const labels = Object.keys(manifest.calls).filter((label) => callOf(label).digest !== undefined);
    const shown = await waiting();
    for (const label of labels)
      expect([label, shown.get(callOf(label).tool_call_id)?.digest]).toEqual([label, callOf(label).digest]);

    const decisions: [string, Record<string, unknown>][] = [
      ['waiting_to_approve', { decision: 'allow' }],
      ['waiting_to_edit', { decision: 'allow', args: { n: 60, note: 'edited' } }],
      ['waiting_to_deny', { decision: 'deny', note: 'no' }],
      ['waiting_server_tool', { decision: 'allow' }],
      ['waiting_twin_1', { decision: 'allow' }],
      ['waiting_twin_2', { decision: 'deny' }],
    ];
    expect(decisions.map(([label]) => label).toSorted()).toEqual(labels.toSorted());
    for (const [label, body] of decisions)
      expect([label, (await decide(label, body)).status]).toEqual([label, 200]);

    expect(await stateOf('waiting_to_deny')).toBe('DENIED');
    expect(await stateOf('waiting_twin_2')).toBe('DENIED');
    expect(await record('waiting_server_tool')).toMatchObject({ state: 'COMPLETED', result: { value: 81 } });
    expect((await waiting()).size).toBe(0);
  });

  it('hands the client what waited for it, and takes its results', async () => {
    await submit('executing_client', callOf('executing_client').attempt_token ?? '');
    const sent = await requests();
    const labels = [
      'approved',
      'pending_client',
      'pending_long_name',
      'waiting_to_approve',
      'waiting_to_edit',
      'waiting_twin_1',
    ];
    expect([...sent.keys()].toSorted()).toEqual(labels.map((label) => callOf(label).tool_call_id).toSorted());
    expect(sent.get(callOf('waiting_to_edit').tool_call_id)?.args).toEqual({ n: 60, note: 'edited' });
    for (const label of labels)
      await submit(label, sent.get(callOf(label).tool_call_id)?.attempt_token ?? '');
  });

  it('applies the stored grants, and requires approval for other calls', async () => {
    const granted = (await invoke('camera.wipe', { n: 4 }, 'run_again')).json as { tool_call_id: string };
    const asked = (await invoke('camera.wipe', { n: 400 }, 'run_again')).json as { tool_call_id: string };
    expect([...(await requests()).keys()]).toEqual([granted.tool_call_id]);
    expect([...(await waiting()).keys()]).toEqual([asked.tool_call_id]);
    const cancelled = await server.ask({
      method: 'POST',
      path: '/v1/runs/run_again/cancel',
      headers: as('planner'),
      body: {},
    });
    expect(cancelled.status).toBe(200);
  });

  it('leaves nothing open and verifies its ledger, which goes on from the old head', async () => {
    for await (const call of server.store.openCalls()) throw new Error(`${call.id} is open`);
    const { seq, hash } = manifest.ledger.head;
    const { json } = await server.asOperator('GET', `/v1/ledger?limit=1&after=${seq - 1}`);
    expect(JSON.stringify(json)).toContain(hash);
    expect((await server.asOperator('GET', '/v1/ledger/verify')).json).toMatchObject({ ok: true });
    await server.close();
    const store = readOnlyStore(folder.storeFile, nodeDigest);
    const verdict = await verifyLedger(store, nodeDigest);
    store.close();
    expect(verdict).toMatchObject({ ok: true });
    if (!verdict.ok) return;
    expect(verdict.head.seq).toBeGreaterThan(seq);
  });

  it('has a head file since its first start, which names its last row and that keys have existed', () => {
    const database = new DatabaseSync(folder.storeFile, { readOnly: true });
    const end = database
      .prepare('select id, seq, hash from store_identity join ledger_head using (one)')
      .get();
    database.close();
    expect(readHead(folder.storeFile, nodeDigest)).toEqual({
      kind: 'read',
      head: { storeId: end?.['id'], seq: end?.['seq'], hash: end?.['hash'], keysExisted: true },
    });
  });

  it('opens again as it was closed', async () => {
    server = await aPlatform({ folder, config: CONFIG });
    expect(await stateOf('waiting_to_edit')).toBe('COMPLETED');
    expect((await server.asOperator('GET', '/v1/ledger/verify')).json).toMatchObject({ ok: true });
    await server.close();
  });
});
