import { AsyncLocalStorage } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import crypto from 'node:crypto';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';

const RealDate = Date;

/**
 * Whether the running code belongs to a simulation. Other code of the same process, such as a timer that an earlier test
 * file left behind, keeps real time.
 */
const simulated = new AsyncLocalStorage<true>();

/** `Date` without the present time; a date with a given time is allowed. */
class DateWithoutNow extends RealDate {
  constructor(...given: readonly unknown[]) {
    if (given.length === 0 && isSimulated()) refuse('new Date()');
    super(...(given as [number]));
  }

  static override now(): number {
    return isSimulated() ? refuse('Date.now()') : RealDate.now();
  }
}

/** The sources of real time and real randomness. Turns of the event loop (`setImmediate`) are no source of either. */
const SOURCES: readonly (readonly [owner: object, name: string])[] = [
  [globalThis, 'setTimeout'],
  [globalThis, 'setInterval'],
  [timers, 'setTimeout'],
  [timers, 'setInterval'],
  [timersPromises, 'setTimeout'],
  [timersPromises, 'setInterval'],
  [performance, 'now'],
  [Math, 'random'],
  [crypto, 'randomBytes'],
  [crypto, 'randomFillSync'],
  [crypto, 'randomUUID'],
  [crypto, 'randomInt'],
  [globalThis.crypto, 'getRandomValues'],
  [globalThis.crypto, 'randomUUID'],
];

/** Runs `work`; every source of real time and real randomness throws when `work`, or what it starts, uses it. */
export async function withoutRealTime<Value>(work: () => Promise<Value>): Promise<Value> {
  const real = SOURCES.map(([owner, name]) => Object.getOwnPropertyDescriptor(owner, name));
  for (const [owner, name] of SOURCES) {
    const allowed = Reflect.get(owner, name) as (...given: readonly unknown[]) => unknown;
    const value = (...given: readonly unknown[]): unknown =>
      isSimulated() && !isExempt() ? refuse(name) : Reflect.apply(allowed, owner, given);
    Object.defineProperty(owner, name, { value, configurable: true, writable: true });
  }
  globalThis.Date = DateWithoutNow as unknown as DateConstructor;
  syncBuiltinESMExports();
  try {
    return await simulated.run(true, work);
  } finally {
    SOURCES.forEach(([owner, name], index) => {
      const descriptor = real[index];
      if (descriptor === undefined) Reflect.deleteProperty(owner, name);
      else Object.defineProperty(owner, name, descriptor);
    });
    globalThis.Date = RealDate;
    syncBuiltinESMExports();
  }
}

/**
 * Whether the SQLite store calls: it writes its head file, and looks at its files, once a second of real time. Nothing that a
 * simulated process sees depends on it.
 */
function isExempt(): boolean {
  const [, , , caller = ''] = (new Error('stack').stack ?? '').split('\n');
  return caller.includes('/src/store/sqlite/');
}

function isSimulated(): boolean {
  return simulated.getStore() === true;
}

function refuse(name: string): never {
  throw new Error(`a simulation must not use ${name}: time and randomness come from the seed`);
}
