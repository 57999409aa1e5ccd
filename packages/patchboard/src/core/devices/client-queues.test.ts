import { describe, expect, it } from 'vitest';
import { accepted, anEngine, aPrincipal, aRequest } from '../../../test/support/an-engine.ts';
import { delayingStore } from '../../../test/support/delaying-store.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { Call } from '../call/call.ts';

const agent = aPrincipal();

async function aClientCall() {
  const shared = delayingStore(memoryStore({ digest: nodeDigest }), [3]);
  const fixture = await anEngine({ store: shared.store });
  await fixture.engine.clientTools.register('default', 'desk', [
    { name: 'print', schema: { type: 'object' } },
  ]);
  const call = accepted(await fixture.engine.submit(aRequest({ toolName: 'print' }), agent));
  return { ...fixture, call, idle: shared.idle };
}

describe('a queued call that is being ended', () => {
  it('is not delivered to a poll: its end says that it did not start', async () => {
    const { engine, call, store, idle, clock } = await aClientCall();
    const cancelling = engine.calls.cancel(agent, call.id);
    await clock.turn();
    expect(engine.clientQueues.unacknowledged('default', 'desk')).toEqual([]);
    await cancelling;
    await idle();
    expect((await store.findCall(call.id))?.state).toMatchObject({
      name: 'CANCELLED',
      error: { outcome: 'not_started' },
    });
  });

  it('is not delivered to a connection', async () => {
    const { engine, call, clock } = await aClientCall();
    const delivered: Call[] = [];
    const cancelling = engine.calls.cancel(agent, call.id);
    await clock.turn();
    const detach = engine.clientQueues.attach('default', 'desk', {
      deliver: (one) => delivered.push(one),
      withdraw: () => undefined,
    });
    await cancelling;
    detach();
    expect(delivered).toEqual([]);
  });
});
