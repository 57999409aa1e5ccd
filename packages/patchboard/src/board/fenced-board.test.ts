import { expect, it, onTestFinished } from 'vitest';
import { settled } from '../../test/support/fake-clock.ts';
import { tool } from '../sdk/tool.ts';
import { createPatchboard } from './create-patchboard.ts';
import { memory, type BoardStore } from './stores.ts';

const PROBLEM = 'another server has taken over this database';

/** A board whose store can be taken over, with a tool that does not end. */
async function aBoard() {
  let fence = (_problem: string): void => {};
  const kept: BoardStore = {
    ...memory(),
    open: async (options) => {
      const store = await memory().open(options);
      store.onFenced = (listener) => void (fence = listener);
      return store;
    },
  };
  const board = await createPatchboard({
    store: kept,
    tools: [tool('never.ends', () => new Promise<never>(() => {})), tool('math.one', () => 1)],
  });
  onTestFinished(() => board.close());
  return { board, fence: () => fence(PROBLEM) };
}

const REFUSAL = { name: 'BoardError', failure: { code: 'storage_unavailable', message: PROBLEM } };

it('rejects the open calls, waits and every later change once another process has taken over the store', async () => {
  const { board, fence } = await aBoard();
  const ended = await board.call('math.one');
  const { id } = await board.invoke('never.ends');
  const refused = [board.call('never.ends'), board.wait(id)].map((one) =>
    expect(one).rejects.toMatchObject(REFUSAL),
  );
  await settled();
  fence();
  await Promise.all(refused);
  const later: readonly (() => Promise<unknown>)[] = [
    () => board.call('math.one'),
    () => board.invoke('math.one'),
    () => board.wait(id),
    () => board.cancel(id),
    () => board.decide(id, 'allow'),
    () => board.respondInput(id, { id: 'input_1', content: {} }),
  ];
  for (const act of later) await expect(act()).rejects.toMatchObject(REFUSAL);
  expect(await board.wait(ended.id)).toEqual(ended);
});

it('calls the listeners with the problem once, and a later one at once', async () => {
  const { board, fence } = await aBoard();
  const told: string[] = [];
  board.onFenced((problem) => told.push(`first: ${problem}`));
  board.onFenced(() => told.push('removed'))();
  fence();
  fence();
  board.onFenced((problem) => told.push(`later: ${problem}`));
  expect(told).toEqual([`first: ${PROBLEM}`, `later: ${PROBLEM}`]);
});
