import process from 'node:process';
import type { Store } from '../../packages/patchboard/src/core/ports.ts';
import { isOpen } from '../../packages/patchboard/src/core/call/call.ts';

/**
 * Points at which the server kills itself, timed more precisely than a kill from outside:
 * `before`: the store has not got the change; `handed-over`: it has, and has not committed;
 * `committed`: durable, and not acknowledged.
 */
export const FAILPOINTS = [
  'insert.before',
  'insert.handed-over',
  'insert.committed',
  'dispatch.begun',
  'dispatch.effect',
  'result.before',
  'result.handed-over',
  'result.committed',
  'acknowledge.before',
  'acknowledge.committed',
] as const;

export type FailpointName = (typeof FAILPOINTS)[number];

/** Kills the process with SIGKILL at the `hit`-th pass. */
export class Failpoint {
  readonly #name: FailpointName | null;
  #left: number;

  constructor(name: FailpointName | null, hit: number) {
    this.#name = name;
    this.#left = hit;
  }

  reach(name: FailpointName): void {
    if (name !== this.#name) return;
    this.#left -= 1;
    if (this.#left <= 0) process.kill(process.pid, 'SIGKILL');
  }
}

type Change = 'insert' | 'acknowledge' | 'result';

/** The store, with a failpoint around every change of a call. */
export function failingStore(store: Store, failpoint: Failpoint): Store {
  async function around<T>(change: Change, write: () => T | Promise<T>): Promise<T> {
    failpoint.reach(`${change}.before` as FailpointName);
    const written = write();
    failpoint.reach(`${change}.handed-over` as FailpointName);
    const response = await written;
    failpoint.reach(`${change}.committed` as FailpointName);
    return response;
  }
  const insertCall: Store['insertCall'] = (record) => around('insert', () => store.insertCall(record));
  const replaceCall: Store['replaceCall'] = (call, ...others) =>
    around(isOpen(call) ? 'acknowledge' : 'result', () => store.replaceCall(call, ...others));
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'insertCall') return insertCall;
      if (name === 'replaceCall') return replaceCall;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
    },
  });
}
