import { memory } from './memory.ts';
import { sqlite } from './sqlite.ts';
import type { StoreKind } from './store-kind.ts';

const STORE_KINDS: readonly StoreKind[] = [memory, sqlite];

export function storeKind(name: string): StoreKind {
  const kind = STORE_KINDS.find((one) => one.name === name);
  if (kind === undefined) throw new Error(`no kind of store is named ${name}`);
  return kind;
}
