import process from 'node:process';
import { isOpen } from '../../src/core/call/call.ts';
import type { Store } from '../../src/core/ports.ts';
import type { CrashPoint } from './crash-story.ts';

export interface CrashPoints {
  /** Kills this process if this is the chosen point, at the chosen pass. */
  readonly reach: (name: CrashPoint) => void;
  /** The store, with a crash point before and after each change of an agent. */
  readonly crashing: (store: Store) => Store;
}

export function crashPoints(point: string, hit: number): CrashPoints {
  let left = hit;
  const reach = (name: CrashPoint): void => {
    if (name !== point) return;
    left -= 1;
    if (left > 0) return;
    // No code after this line runs: SIGKILL takes effect before the call returns.
    process.kill(process.pid, 'SIGKILL');
  };
  return { reach, crashing: (store) => crashing(store, reach) };
}

function crashing(store: Store, reach: CrashPoints['reach']): Store {
  const appendJournal: Store['appendJournal'] = async (journal, after, entries) => {
    const isMessage = entries.some(({ kind }) => kind === 'message');
    if (isMessage) reach('message.before');
    const written = await store.appendJournal(journal, after, entries);
    if (isMessage) reach('message.after');
    if (entries.some(({ kind }) => kind === 'partial')) reach('partial.after');
    if (entries.some(({ body }) => body.includes('"permission_required"'))) reach('asked.after');
    if (entries.some(({ body }) => body.includes('"tool:end"'))) reach('ending.recorded');
    return written;
  };
  const insertCall: Store['insertCall'] = async (record) => {
    const inserted = await store.insertCall(record);
    reach('call.recorded');
    return inserted;
  };
  const replaceCall: Store['replaceCall'] = async (call, ...rest) => {
    const replaced = await store.replaceCall(call, ...rest);
    if (!isOpen(call)) reach('result.after');
    return replaced;
  };
  const changed: Partial<Store> = { appendJournal, insertCall, replaceCall };
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(changed, name) ?? Reflect.get(target, name, target);
      return typeof value === 'function' && !(name in changed)
        ? (value as () => unknown).bind(target)
        : value;
    },
  });
}
