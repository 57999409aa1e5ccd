import { describe, expect, it, onTestFinished } from 'vitest';
import { aDevice, DEVICE_INFO, type BareDevice, type Frame } from '../devices/support/bare-device.ts';
import { waitFor } from '../support/wait-for.ts';
import { aCluster, type CallView, type NodeResponse, type TestNode } from './support/a-node.ts';

const ROUNDS = 8;
const cluster = await aCluster('rates: { principal: null, tenant: null }');
const [a, b] = await Promise.all([cluster.join(), cluster.join()]);
const agent = await aKey('agent', 'bot');

interface Key {
  readonly id: string;
  readonly headers: { readonly authorization: string };
}

async function aKey(kind: string, name: string): Promise<Key> {
  const { json } = await a.send('POST', '/v1/keys', { kind, name });
  const { key_id: id, key } = json as { readonly key_id: string; readonly key: string };
  return { id, headers: { authorization: `Bearer ${key}` } };
}

/** Runs the action at both nodes at once. */
async function atBoth<T>(action: (node: TestNode) => Promise<T>): Promise<readonly [T, T]> {
  return await Promise.all([action(a), action(b)]);
}

const statuses = (responses: readonly NodeResponse[]): number[] =>
  responses.map(({ status }) => status).toSorted((one, other) => one - other);
const callOf = ({ json }: NodeResponse): CallView => json as CallView;

/** The ledger has one row for the end of each call. */
async function endsOf({ tool_call_id: id }: CallView): Promise<number> {
  const rows = await cluster.query(`select body from ledger where call_id = $1 and kind = 'call.state'`, [
    id,
  ]);
  return rows.filter(({ body }) => /COMPLETED|FAILED|CANCELLED|TIMED_OUT|DENIED|SEALED/.test(String(body)))
    .length;
}

async function seenByBoth(call: CallView): Promise<CallView> {
  const [first, second] = await atBoth((node) => node.call(call, 20));
  expect(second).toEqual(first);
  expect(await endsOf(call)).toBe(1);
  return first;
}

describe('two nodes at once', () => {
  it('decide one call: one decision is taken, the other gets what is in force, and the tool runs at most once', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const submitted = await a.send(
        'POST',
        '/v1/tools/test.risky/invoke',
        { run_id: 'decided' },
        agent.headers,
      );
      const call = callOf(submitted);
      const path = `/v1/tool_calls/${call.tool_call_id}`;
      const { approval } = (await b.get(path)).json as { readonly approval: { readonly digest: string } };
      const decide = (node: TestNode, decision: string): Promise<NodeResponse> =>
        node.send('POST', `${path}/decision`, { decision, digest: approval.digest });
      const [allowed, denied] = await Promise.all([decide(a, 'allow'), decide(b, 'deny')]);
      expect(statuses([allowed, denied])).toEqual([200, 409]);
      const isAllowed = allowed.status === 200;
      expect(await seenByBoth(call)).toMatchObject({ state: isAllowed ? 'COMPLETED' : 'DENIED' });
      expect(cluster.ranIn(call)).toHaveLength(isAllowed ? 1 : 0);
    }
  });

  it('cancel a call that ends: it has one end, which both return', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const call = await a.invoke('test.effect', round * 2);
      const cancel = `/v1/tool_calls/${call.tool_call_id}/cancel`;
      await atBoth((node) => node.send('POST', cancel, {}));
      const { state } = await seenByBoth(call);
      expect(['COMPLETED', 'CANCELLED']).toContain(state);
    }
  });

  it('get different results of one client: one is taken, the other is a conflict', async () => {
    const client = await aKey('client', 'phone');
    const tools = [{ name: 'phone.shot', schema: { type: 'object' }, timeout_ms: 30_000 }];
    const body = { client_id: 'phone', tools };
    expect(await a.send('POST', '/internal/tools/register', body, client.headers)).toMatchObject({
      status: 200,
    });
    for (let round = 0; round < ROUNDS; round += 1) {
      const call = await b.invoke('phone.shot', 0);
      const submits = await atBoth((node) =>
        node.send(
          'POST',
          `/internal/tool_calls/${call.tool_call_id}/submit`,
          { status: 'SUCCEEDED', result: node.pid },
          client.headers,
        ),
      );
      expect(statuses(submits)).toEqual([200, 409]);
      expect(await seenByBoth(call)).toMatchObject({ result: submits[0].status === 200 ? a.pid : b.pid });
    }
  });

  it('get requests with one Idempotency-Key: all return one call, which runs once; another body is refused', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const invoke = (node: TestNode, ms: number): Promise<NodeResponse> =>
        node.send(
          'POST',
          '/v1/tools/test.effect/invoke',
          { run_id: 'keyed', args: { ms } },
          { 'idempotency-key': `key-${round}`, prefer: 'wait=20' },
        );
      const nodes = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? a : b));
      const responses = await Promise.all(nodes.map((node) => invoke(node, 1)));
      const ids = new Set(responses.map((response) => callOf(response).tool_call_id));
      expect(ids.size).toBe(1);
      expect(cluster.ranIn(callOf(responses[0]!))).toHaveLength(1);
      const others = await atBoth((node) => invoke(node, 2));
      expect(statuses(others)).toEqual([422, 422]);
    }
  });

  it('cancel a run that calls join: each call is refused or cancelled, and none stays open', async () => {
    for (let round = 0; round < 3; round += 1) {
      const run = `joined-${round}`;
      const join = (node: TestNode): Promise<NodeResponse> =>
        node.send('POST', '/v1/tools/test.effect/invoke', { run_id: run, args: { ms: 60_000 } });
      await join(a);
      const joins = [b, a, b, a, b, a].map(join);
      const cancelled = b.send('POST', `/v1/runs/${run}/cancel`, {});
      const responses = await Promise.all([...joins, ...[a, b].map(join)]);
      expect((await cancelled).status).toBe(200);
      const joined = responses.filter(({ status }) => status < 300);
      for (const response of joined)
        expect(await seenByBoth(callOf(response))).toMatchObject({ state: 'CANCELLED' });
      for (const { status, json } of responses.filter((response) => response.status >= 300))
        expect([status, json]).toEqual([409, expect.objectContaining({ code: 'conflict' })]);
      const { json } = await a.get(`/v1/tool_calls?run_id=${run}`);
      const listed = (json as { readonly tool_calls: readonly CallView[] }).tool_calls;
      expect(listed.map(({ state }) => state)).toEqual(listed.map(() => 'CANCELLED'));
      expect(listed).toHaveLength(joined.length + 1);
    }
  });

  it('read what the other has acknowledged: the call, its end, its run and its rows', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [node, other] = round % 2 === 0 ? [a, b] : [b, a];
      const run = `read-${round}`;
      const call = await node.invoke('test.effect', 0, 20, { run_id: run });
      expect(await other.call(call)).toEqual(call);
      expect((await other.get(`/v1/runs/${run}`)).status).toBe(200);
      const { json } = await other.get(`/v1/tool_calls?run_id=${run}`);
      expect(json).toMatchObject({ tool_calls: [{ tool_call_id: call.tool_call_id, state: 'COMPLETED' }] });
      expect((await node.send('POST', `/v1/runs/${run}/cancel`, {})).status).toBe(200);
      const late = await other.send('POST', '/v1/tools/test.effect/invoke', { run_id: run });
      expect(late).toMatchObject({ status: 409 });
    }
  });
});

describe('a secret that works once', () => {
  it('is spent at one of two nodes: a login link', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { json } = await a.send('POST', '/v1/session/link');
      const token = (json as { readonly url_path: string }).url_path.replace('/#login=', '');
      const opened = await atBoth((node) => node.send('POST', '/v1/session', { token }));
      expect(statuses(opened)).toEqual([200, 401]);
    }
  });

  it('is spent at one of two nodes: a ticket', async () => {
    const client = await aKey('client', 'ticketed');
    for (let round = 0; round < ROUNDS; round += 1) {
      const { json } = await b.send('POST', '/v1/tickets', {}, client.headers);
      const { ticket } = json as { readonly ticket: string };
      const opened = await Promise.allSettled([
        connect(a, `?ticket=${ticket}`),
        connect(b, `?ticket=${ticket}`),
      ]);
      expect(opened.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    }
  });

  it('is spent at one of two nodes: the token with which a device resumes', async () => {
    const client = await aKey('client', 'returning');
    const third = await cluster.join();
    const first = await connect(third, '', client);
    const welcome = await hello(first);
    await first.register(DEVICE_INFO);
    const call = await a.invoke('device_info', 0, 0, { args: {} });
    const request = await first.next('tool_call_request');
    third.signal('SIGKILL');
    await first.closed;
    const again = await Promise.all([connect(a, '', client), connect(b, '', client)]);
    const resume = { resume: welcome['resume_token'], holding: [request['id']] };
    const welcomes = await Promise.all(again.map((device) => hello(device, resume)));
    expect(welcomes.filter(({ resumed }) => resumed === true)).toHaveLength(1);
    const resumed = again[welcomes.findIndex((each) => each['resumed'] === true)]!;
    resumed.send({ type: 'tool_result', id: request['id'], output: 'once' });
    expect(await resumed.next('result_acknowledged')).toMatchObject({ accepted: true });
    expect(await seenByBoth(call)).toMatchObject({ result: 'once' });
  });
});

describe('a change at both nodes at once', () => {
  it('of the policy: one is in force, the other is a conflict', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { version } = (await a.get('/v1/policy')).json as { readonly version: number };
      const document = (node: TestNode): object => ({ default: { autoDenyTools: [`tool.${node.pid}`] } });
      const put = await atBoth((node) =>
        node.send('PUT', '/v1/policy', { version, document: document(node) }),
      );
      expect(statuses(put)).toEqual([200, 409]);
      const winner = put[0].status === 200 ? a : b;
      const read = await atBoth((node) => node.get('/v1/policy'));
      for (const { json } of read)
        expect(json).toMatchObject({ version: version + 1, document: document(winner) });
    }
  });

  it('of the policy, without the version that was read: both are in the history, and one is in force', async () => {
    const { version } = (await a.get('/v1/policy')).json as { readonly version: number };
    const put = await atBoth((node) => node.send('PUT', '/v1/policy', { document: {} }));
    expect(statuses(put)).toEqual([200, 200]);
    const read = await atBoth((node) => node.get('/v1/policy'));
    for (const { json } of read) expect(json).toMatchObject({ version: version + 2 });
  });

  it('of a tool name: it belongs to one of two clients, and the other is told so', async () => {
    const keys = [await aKey('client', 'left'), await aKey('client', 'right')] as const;
    const register = async (node: TestNode, client: string, key: Key, name: string): Promise<number> => {
      const body = { client_id: client, tools: [{ name, schema: { type: 'object' } }] };
      const { json } = await node.send('POST', '/internal/tools/register', body, key.headers);
      const { registered_count: count, rejected } = json as {
        readonly registered_count: number;
        readonly rejected: readonly { readonly code: string }[];
      };
      expect(rejected.map(({ code }) => code)).toEqual(count === 1 ? [] : ['name_taken']);
      return count;
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = `shared.tool${round}`;
      const counts = await Promise.all([
        register(a, 'left', keys[0], name),
        register(b, 'right', keys[1], name),
      ]);
      expect(counts.toSorted()).toEqual([0, 1]);
    }
  });

  it('of a key: a revoked key makes no call at any node after the response', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { id, headers } = await aKey('agent', `revoked-${round}`);
      const call = (node: TestNode): Promise<NodeResponse> =>
        node.send('POST', '/v1/tools/test.effect/invoke', { run_id: `revoked-${round}` }, headers);
      const before = [a, b, a, b].map(call);
      expect((await a.send('DELETE', `/v1/keys/${id}`)).status).toBe(200);
      expect(statuses(await atBoth(call))).toEqual([401, 401]);
      for (const { status } of await Promise.all(before)) expect([202, 401]).toContain(status);
    }
  });
});

async function connect(node: TestNode, query: string, key?: Key): Promise<BareDevice> {
  const device = await aDevice(Number(new URL(node.url).port), {
    path: `/ws${query}`,
    ...(key === undefined ? {} : { headers: key.headers }),
  });
  onTestFinished(() => device.socket.terminate());
  return device;
}

async function hello(device: BareDevice, given: object = {}): Promise<Frame> {
  device.send({ type: 'hello', protocol: 1, client_id: 'returning', ...given });
  return await device.next('welcome');
}

it('after all of it the ledger verifies', async () => {
  await waitFor(async () => expect((await a.get('/v1/ledger/verify')).json).toMatchObject({ ok: true }));
});
