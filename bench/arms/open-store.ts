import type { Store } from '../../packages/patchboard/src/core/ports.ts';
import { nodeDigest } from '../../packages/patchboard/src/runtime/digest.ts';
import { sqliteStore } from '../../packages/patchboard/src/store/sqlite/sqlite-store.ts';

/** What `durability` says of every figure made with this store. */
export const DURABILITY =
  'SQLite WAL, synchronous=FULL: an answered receipt survives a power cut; call and hash-chained ledger rows in one transaction';

/** Without group commit every change gets a transaction, and so a sync, of its own. */
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

/** A change is handed over only after the one before it is durable, so no two ever share a transaction. */
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
