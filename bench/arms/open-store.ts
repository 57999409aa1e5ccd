import type { Store } from '../../packages/patchboard/src/core/ports.ts';
import { nodeDigest } from '../../packages/patchboard/src/runtime/digest.ts';
import { sqliteStore } from '../../packages/patchboard/src/store/sqlite/sqlite-store.ts';

/** The text of `durability` for figures that use this store. */
export const DURABILITY =
  'SQLite WAL, synced before the response: an acknowledged call survives a power loss; call and hash-chained ledger rows in one transaction';

/** Without group commit every change has its own transaction and fsync. */
export async function openStore(file: string, groupCommit: boolean): Promise<Store> {
  const store = await sqliteStore({ file, digest: nodeDigest });
  return groupCommit ? store : oneChangeAtATime(store);
}

const CHANGES: ReadonlySet<string | symbol> = new Set<keyof Store>([
  'insertCall',
  'replaceCall',
  'ensureRun',
  'cancelRun',
  'saveTools',
  'removeTools',
  'append',
]);

type Method = (...values: unknown[]) => unknown;

/** Passes a change on only after the previous one is durable, so that no two share a transaction. */
function oneChangeAtATime(store: Store): Store {
  let last: Promise<unknown> = Promise.resolve();
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const method = (value as Method).bind(target);
      if (!CHANGES.has(name)) return method;
      return (...values: unknown[]) => {
        const change = last.then(() => method(...values));
        last = change.catch(() => {});
        return change;
      };
    },
  });
}

/** A store that discards calls and resolves a turn of the event loop later, as a commit would. */
export function forgetful(store: Store): Store {
  let waiting: (() => void)[] = [];
  const soon = async <T>(value: T): Promise<T> =>
    await new Promise((resolve) => {
      waiting.push(() => resolve(value));
      if (waiting.length > 1) return;
      setImmediate(() => {
        const ready = waiting;
        waiting = [];
        for (const resolve of ready) resolve();
      });
    });
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'insertCall') return () => soon({ kind: 'inserted' });
      if (name === 'replaceCall') return () => soon(true);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value as Method).bind(target) : value;
    },
  });
}
