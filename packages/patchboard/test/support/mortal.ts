import type { Store } from '../../src/core/ports.ts';
import type { FakeClock } from './fake-clock.ts';

/** `yes` is set to false by a crash. */
export interface Alive {
  yes: boolean;
}

/** After the crash nothing of the old process reaches the store or hears the clock. */
export function mortalStore(store: Store, alive: Alive): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as unknown;
      if (typeof method !== 'function') return method;
      return (...args: unknown[]): unknown => {
        if (!alive.yes) return new Promise(() => {});
        if (name === 'watch') {
          const listener = args[0] as (row: unknown) => void;
          return target.watch((row) => alive.yes && listener(row));
        }
        const result = Reflect.apply(method, target, args) as unknown;
        if (!(result instanceof Promise)) return result;
        return result.then((value: unknown) => (alive.yes ? value : new Promise(() => {})));
      };
    },
  });
}

export function mortalClock(clock: FakeClock, alive: Alive): FakeClock {
  return new Proxy(clock, {
    get: (target, name) => {
      if (name === 'after')
        return (ms: number, action: () => void) => target.after(ms, () => alive.yes && action());
      const method = Reflect.get(target, name) as unknown;
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}
