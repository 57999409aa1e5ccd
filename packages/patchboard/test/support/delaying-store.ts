import type { Store } from '../../src/core/ports.ts';

/** The methods that change a call. */
const DELAYED: ReadonlySet<string> = new Set(['insertCall', 'replaceCall', 'findCall']);

export interface DelayingStore {
  readonly store: Store;
  /** Resolves when every result of the store has been delivered and nothing that follows from it used the store again. */
  readonly idle: () => Promise<void>;
}

/**
 * Commits at once and delivers the result some turns of the event loop later, so that other work runs between
 * a commit and its continuation. Results may overtake each other. `turns` is the list of delays, used
 * cyclically.
 */
export function delayingStore(store: Store, turns: readonly number[]): DelayingStore {
  let calls = 0;
  let pending = 0;
  const deliver = async (result: Promise<unknown>, wait: number): Promise<unknown> => {
    pending += 1;
    try {
      for (let turn = 0; turn < wait; turn += 1) await nextTurn();
      return await result;
    } finally {
      pending -= 1;
    }
  };
  const proxy = new Proxy(store, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as unknown;
      if (typeof method !== 'function') return method;
      return (...args: unknown[]): unknown => {
        const result = Reflect.apply(method, target, args) as unknown;
        if (DELAYED.has(String(name)))
          return deliver(Promise.resolve(result), turns[calls++ % turns.length] ?? 0);
        return result instanceof Promise ? deliver(result, 0) : result;
      };
    },
  });
  const idle = async (): Promise<void> => {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet = pending === 0 ? quiet + 1 : 0) await nextTurn();
  };
  return { store: proxy, idle };
}

/** What follows a result takes a few turns to write again. */
const QUIET_TURNS = 4;

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
