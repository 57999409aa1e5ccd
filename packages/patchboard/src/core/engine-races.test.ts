import { describe, expect, it } from 'vitest';
import {
  anEngine,
  aPrincipal,
  aServerTool,
  submitted,
  type EngineFixture,
} from '../../test/support/an-engine.ts';
import { settled } from '../../test/support/fake-clock.ts';
import { failure, ToolFailure } from './failures.ts';
import type { Call } from './call/call.ts';
import type { DeviceLink } from './devices/device.ts';
import { parseRequestId, requestId } from './devices/request-id.ts';
import type { Store } from './ports.ts';

const me = aPrincipal();
const endless = () => new Promise<never>(() => {});

async function stateOf({ engine }: EngineFixture, { id }: Call): Promise<Call['state'] | undefined> {
  return (await engine.calls.find(me, id))?.state;
}

/** What waits for `promise` waits until `resolve`. */
function aGate(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((open) => {
    resolve = open;
  });
  return { promise, resolve };
}

/** Commits take until the test lets them through, as on a busy disk. `only`: those of one call. */
function hold(store: Store, name: 'insertCall' | 'replaceCall', only?: string): () => void {
  const { promise: gate, resolve: open } = aGate();
  const commit = store[name].bind(store) as (...given: unknown[]) => unknown;
  store[name] = (async (...given: unknown[]) => {
    if (only === undefined || (given[0] as Call).id === only) await gate;
    return await commit(...given);
  }) as never;
  return open;
}

describe('a cancel that meets the beginning of its call', () => {
  async function beginning(): Promise<
    EngineFixture & { call: Call; begun: string[]; letThrough: () => void }
  > {
    const begun: string[] = [];
    let release = (): void => {};
    const first = aServerTool({
      name: 'first',
      execute: () => new Promise<void>((resolve) => (release = resolve)),
    });
    const second = aServerTool({
      name: 'second',
      execute: (_args, { callId, signal }) => {
        begun.push(callId);
        return new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
      },
    });
    const fixture = await anEngine({ tools: [first, second], limits: { concurrencyPerRun: 1 } });
    await submitted(fixture, 'first');
    const call = await submitted(fixture, 'second');
    await settled();
    const letThrough = hold(fixture.store, 'replaceCall', call.id);
    release();
    await settled(); // the slot is free, and what waited for it is being recorded as executing
    return { ...fixture, call, begun, letThrough };
  }

  it('ends it all the same', async () => {
    const scene = await beginning();
    const cancelled = scene.engine.calls.cancel(me, scene.call.id);
    await settled();
    scene.letThrough();
    expect(await cancelled).toMatchObject({ ok: true });
    expect(await stateOf(scene, scene.call)).toMatchObject({ name: 'CANCELLED' });
  });

  it('ends it with its run', async () => {
    const scene = await beginning();
    const cancelled = scene.engine.runs.cancel(me, 'run_1');
    await settled();
    scene.letThrough();
    expect(await cancelled).toMatchObject({ ok: true, value: { cancelled: [scene.call.id] } });
    expect(await stateOf(scene, scene.call)).toMatchObject({ name: 'CANCELLED' });
  });
});

describe('a deadline', () => {
  const HOUR_MS = 3_600_000;

  it.each([-HOUR_MS, HOUR_MS])(
    'does not follow the wall clock by %d ms at an acknowledgement',
    async (jump) => {
      const fixture = await anEngine({});
      const { engine, clock } = fixture;
      await engine.clientTools.register('default', 'c1', [
        { name: 'door', schema: { type: 'object' }, timeout_ms: 30_000 },
      ]);
      const call = await submitted(fixture, 'door');
      await clock.advance(1000);
      clock.jumpWall(jump);
      await engine.clients.acknowledge(aPrincipal({ clientId: 'c1' }), call.id, null);
      await clock.advance(28_000);
      expect(await stateOf(fixture, call)).toMatchObject({ name: 'EXECUTING' });
      await clock.advance(1200);
      expect(await stateOf(fixture, call)).toMatchObject({ name: 'TIMED_OUT' });
    },
  );

  it('does not follow it at another try', async () => {
    const tool = aServerTool({
      name: 'flaky',
      timeoutMs: 10_000,
      annotations: { idempotent: true },
      execute: (_args, { attempt }) => {
        if (attempt === 1) throw new ToolFailure(failure('upstream_unreachable'));
        return endless();
      },
    });
    const fixture = await anEngine({ tools: [tool] });
    const call = await submitted(fixture, 'flaky');
    fixture.clock.jumpWall(-HOUR_MS);
    await fixture.clock.advance(10_200);
    expect(await stateOf(fixture, call)).toMatchObject({ name: 'TIMED_OUT' });
  });
});

describe('a result that is reviewed for long', () => {
  it('is not taken for that of another device which runs the call by then', async () => {
    const { promise: gate, resolve: open } = aGate();
    const fixture = await anEngine({
      hooks: [{ postToolUse: async () => await gate }],
      limits: { hookTimeoutMs: 60_000 },
    });
    const { engine } = fixture;
    const asked = new Map<string, string>();
    const connect = async (name: string) => {
      const link: DeviceLink = {
        request: (call) => void asked.set(name, requestId(call)),
        cancel: () => undefined,
        inputGiven: () => undefined,
        replaced: () => undefined,
      };
      const device = engine.devices.connect({
        tenant: 'default',
        clientId: 'c1',
        name,
        link,
        mayResume: true,
        resume: null,
        holding: null,
        greet: () => undefined,
      });
      await engine.devices.offer(device, [
        { name: 't', schema: { type: 'object' }, annotations: { idempotent: true } },
      ]);
      return device;
    };
    const one = await connect('one');
    const call = await submitted(fixture, 't');
    await connect('two');
    const { attemptToken } = parseRequestId(asked.get('one')!)!;
    const given = { status: 'SUCCEEDED', result: 'old', error: null, attemptToken } as const;
    const sent = engine.clients.submit(aPrincipal({ clientId: 'c1' }), call.id, given);
    await settled();
    engine.devices.disconnect(one, 'left');
    await settled();
    open();
    expect(await sent).toMatchObject({ ok: false, failure: { code: 'conflict' } });
    expect(asked.has('two')).toBe(true);
    expect(await stateOf(fixture, call)).toMatchObject({ name: 'EXECUTING', attempt: 2 });
  });
});

describe('a close that meets a call being recorded', () => {
  it('waits for it, and seals what it began', async () => {
    let isBegun = false;
    const tool = aServerTool({
      name: 'slow',
      execute: () => {
        isBegun = true;
        return endless();
      },
    });
    const fixture = await anEngine({ tools: [tool], limits: { drainMs: 1000 } });
    const letThrough = hold(fixture.store, 'insertCall');
    const asked = submitted(fixture, 'slow');
    await settled();
    let isDrained = false;
    const drained = fixture.engine.drain().then(() => (isDrained = true));
    await fixture.clock.advance(2000);
    expect(isDrained).toBe(false);
    letThrough();
    const call = await asked;
    await fixture.clock.advance(1200);
    await drained;
    expect(isBegun).toBe(true);
    expect((await fixture.store.findCall(call.id))?.state).toMatchObject({ name: 'SEALED' });
  });

  /** A drain of an engine with a call whose beginning is being committed. */
  async function drainAtBeginning() {
    const { promise: first, resolve: endFirst } = aGate();
    const ran: string[] = [];
    const tool = aServerTool({
      name: 'slow',
      timeoutMs: 600_000,
      execute: (_args, { callId }) => {
        ran.push(callId);
        return ran.length === 1 ? first : endless();
      },
    });
    const fixture = await anEngine({ tools: [tool], limits: { concurrencyServer: 1, drainMs: 1000 } });
    await submitted(fixture, 'slow');
    const call = await submitted(fixture, 'slow');
    const letThrough = hold(fixture.store, 'replaceCall', call.id);
    endFirst();
    await settled();
    let isDrained = false;
    const drained = fixture.engine.drain().then(() => (isDrained = true));
    return { ...fixture, call, ran, letThrough, drained, isDrained: () => isDrained };
  }

  it('waits for a call whose beginning is being recorded, and seals it in time', async () => {
    const { clock, store, call, ran, letThrough, drained, isDrained } = await drainAtBeginning();
    await clock.advance(500);
    letThrough();
    await clock.advance(100);
    expect([isDrained(), ran.length]).toEqual([false, 2]);
    await clock.advance(500);
    expect(isDrained()).toBe(true);
    await drained;
    expect((await store.findCall(call.id))?.state).toMatchObject({ name: 'SEALED' });
  });

  it('does not run a call whose beginning is recorded when its time is over', async () => {
    const { clock, store, call, ran, letThrough, drained } = await drainAtBeginning();
    await clock.advance(2000);
    letThrough();
    await drained;
    expect(ran).toHaveLength(1);
    expect((await store.findCall(call.id))?.state).toMatchObject({ name: 'EXECUTING' });
  });

  it('begins none that is admitted after it', async () => {
    const { promise: gate, resolve: allow } = aGate();
    let isBegun = false;
    const tool = aServerTool({
      name: 'late',
      execute: () => {
        isBegun = true;
        return Promise.resolve(1);
      },
    });
    const fixture = await anEngine({
      tools: [tool],
      hooks: [{ preToolUse: async () => await gate }],
      limits: { hookTimeoutMs: 60_000 },
    });
    const asked = submitted(fixture, 'late');
    await settled();
    const drained = fixture.engine.drain();
    allow();
    const call = await asked;
    await fixture.clock.advance(60_000);
    await drained;
    expect(isBegun).toBe(false);
    expect((await fixture.store.findCall(call.id))?.state).toMatchObject({ name: 'PENDING' });
  });
});

describe('a call whose wait for a slot ends in the tick in which the slot becomes free', () => {
  it('runs, and has the whole time of its tool', async () => {
    const begun: string[] = [];
    const tool = aServerTool({
      name: 'slow',
      timeoutMs: 60_000,
      execute: (_args, { callId }) => {
        begun.push(callId);
        return endless();
      },
    });
    const fixture = await anEngine({ tools: [tool], limits: { concurrencyServer: 1, queueWaitMs: 60_000 } });
    const [first, second] = [await submitted(fixture, 'slow'), await submitted(fixture, 'slow')];
    await fixture.clock.advance(60_100);
    expect(await stateOf(fixture, first)).toMatchObject({ name: 'TIMED_OUT' });
    expect(await stateOf(fixture, second)).toMatchObject({ name: 'EXECUTING' });
    expect(begun).toEqual([first.id, second.id]);
  });
});
