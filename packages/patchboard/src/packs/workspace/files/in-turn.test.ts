import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { FilePool } from '../services.ts';
import { inTurn } from './in-turn.ts';

const pool: FilePool = { remember: () => {}, seen: () => undefined };

it('runs one after the other, also after a failure', async () => {
  const order: string[] = [];
  const work = (name: string) => async (): Promise<void> => {
    order.push(`${name} begins`);
    await turn();
    order.push(`${name} ends`);
    if (name === 'first') throw new Error('failed');
  };
  const [first] = await Promise.allSettled([inTurn(pool, work('first')), inTurn(pool, work('second'))]);
  expect(first.status).toBe('rejected');
  expect(order).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
});

it('does not keep the last result', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const made = async (): Promise<WeakRef<object>> => {
    const result = await inTurn(pool, async () => ({ bytes: new Uint8Array(1000) }));
    return new WeakRef(result);
  };
  const kept = await made();
  // A WeakRef keeps its target until the current task ends.
  await turn();
  collect();
  expect(kept.deref()).toBeUndefined();
});
