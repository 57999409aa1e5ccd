import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { aCall } from '../../../test/support/a-call.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { Call } from '../call/call.ts';
import { openMatches } from './open-matches.ts';

const CALLS = 20;

it('keeps none of the calls that it reads from the store: together they may be larger than the memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const read: WeakRef<Call>[] = [];
  async function* openCalls(): AsyncGenerator<Call> {
    for (let n = 0; n < CALLS; n += 1) {
      const call = aCall({ argsJson: JSON.stringify({ n }) });
      read.push(new WeakRef(call));
      yield call;
    }
  }
  const parts = {
    store: { openCalls },
    peers: { isSingle: false },
    lifecycle: { all: () => [] },
    clock: new FakeClock(),
  };
  const sort = { by: 'ran', isAscending: false } as const;
  const matches = await openMatches(parts, { tenant: 'default' }, sort, 2_000_000_000_000);
  // A WeakRef keeps its target until the current task ends.
  await turn();
  collect();
  expect(read.filter((call) => call.deref() !== undefined)).toEqual([]);
  expect(matches.found).toHaveLength(CALLS);
});
