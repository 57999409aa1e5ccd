import { describe, expect, it } from 'vitest';
import type { Store } from '../core/ports.ts';
import { aBoard } from '../../test/support/a-board.ts';
import { aFolder } from '../../test/support/a-folder.ts';
import { createPatchboard, sqlite, tool, type BoardStore } from '../index.ts';

/** Never ends by itself. Tells the signal of each execution. */
function endless(started: (signal: AbortSignal) => void) {
  return tool({
    name: 'test.endless',
    execute: (_args, { signal }) => {
      started(signal);
      return new Promise<void>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')));
      });
    },
  });
}

/** A folder with a call that waits for a slot, as an earlier process left it. */
async function aFolderWithOpenCall(): Promise<{ readonly folder: string; readonly id: string }> {
  const folder = await aFolder();
  const limits = { concurrencyServer: 1, concurrencyPerTenant: 1, concurrencyPerRun: 1, drainMs: 1 };
  const board = await createPatchboard({ store: sqlite(folder), tools: [endless(() => {})], limits });
  await board.invoke('test.endless');
  const { id } = await board.invoke('test.endless');
  await board.close();
  return { folder, id };
}

/** Its list of open calls fails at the end, once `ready` resolves. Reports that it is closed. */
function failingLate(folder: string, ready: Promise<unknown>, closed: () => void): BoardStore {
  const given = sqlite(folder);
  return {
    folder,
    open: async (options) => {
      const store = await given.open(options);
      async function* openCalls(): ReturnType<Store['openCalls']> {
        yield* store.openCalls();
        await ready;
        throw new Error('the disk is gone');
      }
      const close = async (): Promise<void> => {
        closed();
        await store.close();
      };
      return new Proxy(store, {
        get: (target, name) => {
          if (name === 'openCalls') return openCalls;
          if (name === 'close') return close;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
}

describe('createPatchboard that fails after it has resumed calls', () => {
  it('stops their tools and seals them before it closes the store, and rejects with its own error', async () => {
    const { folder, id } = await aFolderWithOpenCall();
    const closed: boolean[] = [];
    const signals: AbortSignal[] = [];
    let started = (_signal: AbortSignal): void => {};
    const running = new Promise<AbortSignal>((resolve) => {
      started = resolve;
    });
    const store = failingLate(folder, running, () => closed.push(signals[0]?.aborted === true));
    const tools = [
      endless((signal) => {
        signals.push(signal);
        started(signal);
      }),
    ];
    await expect(createPatchboard({ store, tools, limits: { drainMs: 1 } })).rejects.toThrow(
      'the disk is gone',
    );
    expect(closed).toEqual([true]);
    const board = await aBoard({ store: sqlite(folder) });
    const error = 'the server was stopped while the tool was running';
    expect(await board.get(id)).toMatchObject({ state: 'SEALED', code: 'interrupted', error });
  });
});
