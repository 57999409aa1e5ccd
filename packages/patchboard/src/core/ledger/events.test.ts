import type { ToolSpec } from '@patchboard/wire';
import { beforeEach, describe, expect, it } from 'vitest';
import { anEngine, aPrincipal, aRequest, aServerTool } from '../../../test/support/an-engine.ts';
import { FakeClock, settled } from '../../../test/support/fake-clock.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { Engine } from '../engine.ts';
import type { BoardEvent } from './events.ts';
import { GrantIndex } from '../access/grants.ts';
import { PolicyGuard } from '../access/policy-guard.ts';
import { decodePolicy } from '../access/policy/document.ts';
import type { Principal } from '../access/principal.ts';
import type { Scope } from '../access/scopes.ts';
import { OWN_TOOL } from '../tools/tool-rules.ts';

let engine: Engine;

beforeEach(async () => {
  const decoded = decodePolicy({ default: { autoDenyTools: ['secret.*'] } });
  if (!decoded.ok) throw new Error('no policy');
  const clock = new FakeClock();
  const policy = { version: 1, document: decoded.policy };
  ({ engine } = await anEngine({ clock, guard: new PolicyGuard(policy, new GrantIndex(nodeDigest), clock) }));
});

function specs(...names: string[]): ToolSpec[] {
  return names.map((name) => ({ name, schema: {} }));
}

/** The events that the principal receives live; checks that a later replay returns the same. */
async function eventsOf(principal: Principal, happen: () => Promise<unknown>): Promise<unknown[]> {
  const live: BoardEvent[] = [];
  const later: BoardEvent[] = [];
  const follow = (seen: BoardEvent[]): (() => void) =>
    engine.feed.follow({ principal, callId: null }, 0, {
      next: (event) => void seen.push(event),
      ready: () => null,
      failed: (error) => expect(error).toBeUndefined(),
    });
  const stops = [follow(live)];
  await settled();
  await happen();
  stops.push(follow(later));
  await settled();
  for (const stop of stops) stop();
  expect(later).toEqual(live);
  return live.map(({ data }) => data);
}

async function registerAndUnregister(): Promise<void> {
  await engine.clientTools.register('default', 'phone', specs('secret.a', 'open.a'));
  await engine.clientTools.register('default', 'phone', specs('secret.b'));
  await engine.clientTools.unregister('default', 'phone', null);
}

const NAMED = ['secret.a', 'open.a', 'secret.b'];

describe('events about tools', () => {
  it.each(['agent', 'service', 'local', 'client'] as const)(
    'name to a principal of kind %s only tools that it may ever call',
    async (kind) => {
      const data = await eventsOf(aPrincipal({ kind, clientId: 'other' }), registerAndUnregister);
      expect(data).toMatchObject([{ registered: ['open.a'] }, { client_id: 'phone', removed: ['open.a'] }]);
      expect(JSON.stringify(data)).not.toContain('secret');
    },
  );

  it.each([
    ['an operator', { kind: 'operator' }],
    [
      'the client that registered them',
      { kind: 'client', clientId: 'phone', scopes: new Set<Scope>(['tools:serve']) },
    ],
  ] as const)('name everything to %s', async (_who, given) => {
    const data = await eventsOf(aPrincipal(given), registerAndUnregister);
    expect(data).toHaveLength(3);
    expect(data).toMatchObject([{ registered: NAMED.slice(0, 2) }, { registered: ['secret.b'] }, {}]);
    expect((data[2] as { removed: string[] }).removed.toSorted()).toEqual(NAMED.toSorted());
  });

  it('do not treat an agent with the name of the client as that client', async () => {
    const agent = aPrincipal({ kind: 'agent', clientId: 'phone', scopes: new Set(['calls:read']) });
    expect(JSON.stringify(await eventsOf(agent, registerAndUnregister))).not.toContain('secret');
  });
});

describe('a change of server tools', () => {
  /** The live events of a principal of the tenant. */
  function follow(tenant: string): BoardEvent[] {
    const seen: BoardEvent[] = [];
    engine.feed.follow({ principal: aPrincipal({ tenant }), callId: null }, 0, {
      next: (event) => void seen.push(event),
      ready: () => null,
      failed: (error) => expect(error).toBeUndefined(),
    });
    return seen;
  }

  it('reaches every tenant that has the tool, and names it to no other', async () => {
    engine.tenants.replace('without', { sites: null, packs: ['other'], limits: {} });
    const [own, acme, without] = [follow('default'), follow('acme'), follow('without')];
    await settled();
    const supply = { ...OWN_TOOL, pack: 'weather' };
    const follower = engine.serverTools.follower(supply);
    for (const name of ['weather.get', 'secret.get']) follower.added(aServerTool({ name }));
    follower.removed(['weather.get']);
    await settled();
    const changes = [{ registered: ['weather.get'] }, { removed: ['weather.get'] }];
    expect(own).toMatchObject(changes.map((data) => ({ seq: expect.any(Number) as number, data })));
    expect(acme).toMatchObject(changes.map((data) => ({ seq: null, data })));
    expect(without).toEqual([]);
  });

  it('of a tenant that gets other packs reaches that tenant alone', async () => {
    const [acme, other] = [follow('acme'), follow('other')];
    await settled();
    engine.tenants.replace('acme', { sites: null, packs: [], limits: {} });
    expect(acme.filter(({ type }) => type === 'registry.changed')).toMatchObject([{ seq: null }]);
    expect(other).toEqual([]);
  });
});

describe('a listener of one call', () => {
  it('gets the events of that call only, until it stops', async () => {
    engine.serverTools.add(aServerTool({ name: 'echo' }));
    const before = engine.feed.listenerCount;
    const principal = aPrincipal();
    const seen: (string | null)[] = [];
    const first = await engine.submit(aRequest({ toolName: 'echo' }), principal);
    if (first.kind !== 'accepted') throw new Error(first.kind);
    const stop = engine.feed.listenToCall(first.call.id, ({ callId }) => void seen.push(callId));
    expect(engine.feed.listenerCount).toBe(before + 1);
    await engine.submit(aRequest({ toolName: 'echo' }), principal);
    await settled();
    expect(new Set(seen)).toEqual(new Set([first.call.id]));
    stop();
    expect(engine.feed.listenerCount).toBe(before);
  });
});

describe('the end of the feed', () => {
  it('ends a replay at once, and reads no more from the store', async () => {
    for (const name of ['a', 'b', 'c']) await engine.clientTools.register('default', 'phone', specs(name));
    const seen: BoardEvent[] = [];
    let more = (): void => {};
    engine.feed.follow({ principal: aPrincipal({ kind: 'operator' }), callId: null }, 0, {
      next: (event) => void seen.push(event),
      ready: () => new Promise((resolve) => (more = resolve)),
      failed: (error) => expect(error).toBeUndefined(),
    });
    await settled();
    await engine.drain();
    more();
    await settled();
    expect(seen).toHaveLength(1);
  });
});

it('calls caughtUp once, after the old events and before the live ones', async () => {
  const heard: (string | null)[] = [];
  await engine.clientTools.register('default', 'phone', specs('open.a'));
  const stop = engine.feed.follow({ principal: aPrincipal({ kind: 'operator' }), callId: null }, 0, {
    next: ({ type }) => void heard.push(type),
    ready: () => null,
    caughtUp: () => void heard.push(null),
    failed: (error) => expect(error).toBeUndefined(),
  });
  await settled();
  await engine.clientTools.register('default', 'phone', specs('open.b'));
  await settled();
  stop();
  expect(heard).toEqual(['registry.changed', null, 'registry.changed']);
});

describe('a store that calls its watchers after the write', () => {
  it('gives every reader each event once, in order', async () => {
    const held: (() => void)[] = [];
    const store = memoryStore({ digest: nodeDigest });
    const watch = store.watch.bind(store);
    store.watch = (listener) => watch((committed) => held.push(() => listener(committed)));
    ({ engine } = await anEngine({ store }));
    const seen: (number | null)[] = [];
    const follow = (): (() => void) =>
      engine.feed.follow({ principal: aPrincipal({ kind: 'operator' }), callId: null }, 0, {
        next: ({ seq }) => void seen.push(seq),
        ready: () => null,
        failed: (error) => expect(error).toBeUndefined(),
      });
    const first = engine.feed.listen(() => {});
    await engine.clientTools.register('default', 'phone', specs('open.a'));
    const stop = follow();
    await settled();
    await engine.clientTools.register('default', 'phone', specs('open.b'));
    for (const call of held.splice(0)) call();
    expect(seen).toEqual([1, 2]);
    stop();
    first();
  });
});

describe('readers that catch up', () => {
  it('all get everything, and the event loop has its turn between their slices', async () => {
    const events = 300;
    const readers = 40;
    for (let n = 0; n < events; n += 1)
      await engine.clientTools.register('default', 'phone', specs(`t.${n % 50}`));
    const got = Array.from({ length: readers }, () => 0);
    let inOneTurn = 0;
    let most = 0;
    const endTurn = (): void => {
      most = Math.max(most, inOneTurn);
      inOneTurn = 0;
      turning = setImmediate(endTurn);
    };
    let turning = setImmediate(endTurn);
    await Promise.all(
      got.map(
        (_, index) =>
          new Promise<void>((resolve, reject) => {
            engine.feed.follow({ principal: aPrincipal({ kind: 'operator' }), callId: null }, 0, {
              next: () => {
                got[index]! += 1;
                inOneTurn += 1;
              },
              ready: () => null,
              caughtUp: resolve,
              failed: reject,
            });
          }),
      ),
    );
    clearImmediate(turning);
    expect(got).toEqual(Array.from({ length: readers }, () => events));
    expect(most).toBeLessThanOrEqual(32);
  });
});
