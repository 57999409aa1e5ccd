import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SESSION_COOKIE } from '@patchboard/wire';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { memoryStore } from '../../src/store/memory/memory-store.ts';
import { waitFor } from '../support/wait-for.ts';
import { aServerTool } from '../support/an-engine.ts';
import { severalNodes, type TestNode } from '../support/two-nodes.ts';
import { aServer, OPERATOR_TOKEN, type Sent, type TestServer } from './support/a-server.ts';

const operator: Sent = { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } };
const bearer = (secret: string): Sent => ({ headers: { authorization: `Bearer ${secret}` } });

let nodes: TestNode[];
let a: TestServer;
let b: TestServer;

/** Two HTTP servers over one store. */
beforeEach(async () => {
  nodes = severalNodes(memoryStore({ digest: nodeDigest }), 2);
  const [first, second] = await Promise.all(
    nodes.map(({ store, peers }) =>
      aServer({ store, peers, tools: [aServerTool({ name: 'echo' })], http: { eventLoopDelayMs: 60_000 } }),
    ),
  );
  a = first!;
  b = second!;
});
afterEach(async () => {
  await Promise.all([a.close(), b.close()]);
});

/** Notifications are lost: a node finds changes out by itself. */
function loseNotifications(): void {
  for (const { peers } of nodes) peers.notifies = false;
}

async function aKey(server: TestServer, kind = 'agent'): Promise<{ id: string; secret: string }> {
  const made = await server.post('/v1/keys', { kind, name: 'bot' }, operator);
  expect(made.status).toBe(201);
  return { id: made.json.key_id, secret: made.json.key };
}

describe('a key made at one node', () => {
  it('works at the other at once, and is dead there once it is revoked', async () => {
    const { id, secret } = await aKey(a);
    expect((await b.get('/v1/tools', bearer(secret))).status).toBe(200);
    expect((await b.delete(`/v1/keys/${id}`, operator)).status).toBe(200);
    expect((await a.get('/v1/tools', bearer(secret))).status).toBe(401);
    expect((await b.get('/v1/tools', bearer(secret))).status).toBe(401);
  });

  it('works at the other without a notification, because an unknown key is looked for again', async () => {
    loseNotifications();
    const { id, secret } = await aKey(a);
    expect((await b.get('/v1/tools', bearer(secret))).status).toBe(200);
    expect((await a.delete(`/v1/keys/${id}`, operator)).status).toBe(200);
    // A known key is not looked for: the poll of each second finds out.
    await nodes[1]!.peers.catchUp();
    expect((await b.get('/v1/tools', bearer(secret))).status).toBe(401);
  });

  it('ends local mode at the other', async () => {
    expect((await b.get('/v1/tools')).status).toBe(200);
    await aKey(a);
    expect((await b.get('/v1/tools')).status).toBe(401);
  });

  it('closes the streams of the other when it is revoked', async () => {
    const { id, secret } = await aKey(a);
    const response = await fetch(`${b.url}/v1/events`, bearer(secret));
    expect(response.status).toBe(200);
    const ended = (async () => {
      for await (const chunk of response.body ?? []) void chunk;
    })();
    await a.delete(`/v1/keys/${id}`, operator);
    await ended;
  });
});

describe('what an operator changes at one node', () => {
  it('is in force at the other: a policy', async () => {
    const put = await fetch(`${a.url}/v1/policy`, {
      method: 'PUT',
      headers: { ...operator.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ document: { default: { autoDenyTools: ['echo'] } } }),
    });
    expect([put.status, await put.text()]).toMatchObject([200, expect.any(String)]);
    const [ofA, ofB] = [await a.get('/v1/policy', operator), await b.get('/v1/policy', operator)];
    expect(ofB.json).toEqual(ofA.json);
    expect(ofB.json.version).toBe(1);
  });

  it('is in force at the other: the settings of a tenant', async () => {
    const put = await fetch(`${a.url}/v1/tenants/acme`, {
      method: 'PUT',
      headers: { ...operator.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ sites: ['north'] }),
    });
    expect(put.status).toBe(200);
    const listed = await b.get('/v1/tenants', operator);
    expect(listed.json.items ?? listed.json.tenants).toMatchObject([{ tenant_id: 'acme', sites: ['north'] }]);
    await a.delete('/v1/tenants/acme', operator);
    const later = await b.get('/v1/tenants', operator);
    expect(later.json.items ?? later.json.tenants).toEqual([]);
  });
});

describe('a change that another node changes again before its response is sent', () => {
  /** The responses of the first node wait until the returned function is called. */
  function holdResponses(): () => void {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { peers } = nodes[0]!;
    const announce = peers.announce.bind(peers);
    peers.announce = async (revision) => {
      await announce(revision);
      await held;
    };
    return release;
  }

  async function put(server: TestServer, path: string, body: object): Promise<number> {
    const response = await fetch(`${server.url}${path}`, {
      method: 'PUT',
      headers: { ...operator.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.status;
  }

  it('is not in force any more: a policy', async () => {
    const release = holdResponses();
    const first = put(a, '/v1/policy', { document: { default: { autoDenyTools: ['first'] } } });
    await waitFor(async () => expect((await b.get('/v1/policy', operator)).json.version).toBe(1));
    expect(await put(b, '/v1/policy', { document: { default: { autoDenyTools: ['second'] } } })).toBe(200);
    release();
    expect(await first).toBe(200);
    for (const node of [a, b]) expect((await node.get('/v1/policy', operator)).json.version).toBe(2);
  });

  it('is not in force any more: the settings of a tenant', async () => {
    const sites = async (node: TestServer): Promise<unknown> =>
      (await node.get('/v1/tenants', operator)).json;
    const release = holdResponses();
    const first = put(a, '/v1/tenants/acme', { sites: ['north'] });
    await waitFor(async () => expect(JSON.stringify(await sites(b))).toContain('north'));
    expect(await put(b, '/v1/tenants/acme', { sites: ['south'] })).toBe(200);
    release();
    expect(await first).toBe(200);
    for (const node of [a, b]) expect(JSON.stringify(await sites(node))).toMatch(/^(?!.*north).*south/);
  });

  it('is not in force any more: a key that is revoked', async () => {
    const release = holdResponses();
    const making = aKey(a);
    const id = await waitFor(async () => {
      const { keys } = (await b.get('/v1/keys', operator)).json as { keys: { key_id: string }[] };
      expect(keys).toHaveLength(1);
      return keys[0]!.key_id;
    });
    expect((await b.delete(`/v1/keys/${id}`, operator)).status).toBe(200);
    release();
    const { secret } = await making;
    for (const node of [a, b]) expect((await node.get('/v1/tools', bearer(secret))).status).toBe(401);
  });
});

describe('a browser', () => {
  // The first key ends local mode, in which a browser without a session is accepted too.
  beforeEach(async () => void (await aKey(a)));

  async function signIn(server: TestServer, token: string): Promise<Sent> {
    const opened = await server.post('/v1/session', { token });
    expect(opened.status).toBe(200);
    const id = /=([^;]+);/.exec(opened.headers.get('set-cookie') ?? '')?.[1] ?? '';
    return { headers: { cookie: `${SESSION_COOKIE}=${id}`, 'x-session-proof': opened.json.proof } };
  }

  it('signs in with a link of the other node, once', async () => {
    const link = await a.post('/v1/session/link', undefined, operator);
    const token = String(link.json.url_path).replace('/#login=', '');
    const session = await signIn(b, token);
    expect((await b.get('/v1/keys', session)).status).toBe(200);
    expect((await a.post('/v1/session', { token })).status).toBe(401);
  });

  it.each([true, false])(
    'uses its session at the other node, until it signs out (notified: %s)',
    async (notified) => {
      if (!notified) loseNotifications();
      const session = await signIn(a, OPERATOR_TOKEN);
      expect((await b.get('/v1/keys', session)).status).toBe(200);
      expect(
        (await b.get('/v1/keys', { headers: { ...session.headers, 'x-session-proof': 'other' } })).status,
      ).toBe(401);
      expect((await b.delete('/v1/session', session)).status).toBe(200);
      await nodes[0]!.peers.catchUp();
      expect((await a.get('/v1/keys', session)).status).toBe(401);
    },
  );

  it('signs in with a key of the other node; its session and streams end there when the key is revoked', async () => {
    loseNotifications();
    const { id, secret } = await aKey(a);
    const session = await signIn(b, secret);
    for (const node of [a, b]) expect((await node.get('/v1/tools', session)).status).toBe(200);
    expect((await a.get('/v1/session', session)).json).toMatchObject({ kind: 'key', key_id: id });
    const stream = await fetch(`${b.url}/v1/events`, session);
    expect((await a.delete(`/v1/keys/${id}`, operator)).status).toBe(200);
    expect((await a.get('/v1/tools', session)).status).toBe(401);
    // The poll of each second.
    await nodes[1]!.peers.catchUp();
    for await (const chunk of stream.body ?? []) void chunk;
    expect((await b.get('/v1/tools', session)).status).toBe(401);
    // The documents of dead sessions are deleted when the next session is opened.
    const before = await b.store.documents('key_session');
    await signIn(b, OPERATOR_TOKEN);
    expect([before.length, await b.store.documents('key_session')]).toEqual([1, []]);
  });

  it('shows the uses of a key at the other node', async () => {
    const { id, secret } = await aKey(a);
    expect((await b.get('/v1/tools', bearer(secret))).status).toBe(200);
    // Written when the server closes, and otherwise within seconds.
    await b.app.close();
    const { keys } = (await a.get('/v1/keys', operator)).json as {
      keys: { key_id: string; last_used_at: string | null }[];
    };
    expect(keys.find(({ key_id }) => key_id === id)?.last_used_at).toEqual(expect.any(String));
  });

  it('opens a WebSocket at the other node with a ticket, once', async () => {
    loseNotifications();
    const { secret } = await aKey(a, 'client');
    const { json } = await a.post('/v1/tickets', {}, bearer(secret));
    const open = async (): Promise<string> =>
      await new Promise((resolve) => {
        const socket = new WebSocket(`${b.url.replace('http', 'ws')}/ws?ticket=${json.ticket}`);
        socket.onopen = () => {
          resolve('open');
          socket.close();
        };
        socket.onerror = () => resolve('refused');
      });
    expect([await open(), await open()]).toEqual(['open', 'refused']);
  });
});
