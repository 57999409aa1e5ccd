import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { aCall } from '../../../test/support/a-call.ts';
import { aPrincipal } from '../../../test/support/an-engine.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { Call } from './call.ts';
import { Runs, type RunsParts } from './runs.ts';

const CALLS = 300;

it('cancels the calls of other nodes part by part: all of them may be larger than the memory', async () => {
  const calls = Array.from({ length: CALLS }, () => aCall({ agentId: 'ada' }));
  const store = memoryStore({ digest: nodeDigest });
  let held = 0;
  let most = 0;
  async function* openCalls(): AsyncGenerator<Call> {
    for (const call of calls) {
      held += 1;
      most = Math.max(most, held);
      yield call;
    }
  }
  const runs = new Runs({
    store: new Proxy(store, {
      get: (target, name) => (name === 'openCalls' ? openCalls : Reflect.get(target, name).bind(target)),
    }),
    peers: { isSingle: false, runCancelled: () => {} },
    lifecycle: {
      cancelStored: async (call: Call) => {
        await turn();
        held -= 1;
        // Every tenth one has ended otherwise.
        return calls.indexOf(call) % 10 !== 0;
      },
    },
    clock: new FakeClock(),
    digest: nodeDigest,
    workspaces: { endRun: async () => {} },
  } as unknown as RunsParts);
  const principal = aPrincipal({ agentId: 'ada' });
  await runs.create(principal, 'run_1');
  const result = await runs.cancel(principal, 'run_1');
  const cancelled = calls.filter((_, index) => index % 10 !== 0).map(({ id }) => id);
  expect(result).toEqual({ ok: true, value: { cancelled } });
  expect(most).toBeLessThan(CALLS / 2);
});
