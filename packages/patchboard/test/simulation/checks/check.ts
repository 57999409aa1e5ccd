import type { Call } from '../../../src/core/call/call.ts';
import type { Store } from '../../../src/core/ports.ts';
import type { Entry, History, SeenCall } from '../history.ts';
import type { World } from '../world.ts';

/** What a check may read: the history, the final durable store, and what the world counted. */
export interface Evidence {
  readonly world: World;
  readonly history: History;
  readonly store: Store;
}

export interface Violation {
  readonly check: string;
  readonly problem: string;
}

/** One invariant. It is checked when the simulation is quiet. */
export interface Check {
  readonly name: string;
  /** It reads what the engines hold when all is quiet: it is checked before the last calls of `probe.ts`. */
  readonly readsEngines?: true;
  /** Returns one text for each violation. */
  readonly check: (evidence: Evidence) => Promise<readonly string[]>;
}

/** All calls in the durable store, oldest first. */
export async function storedCalls(store: Store): Promise<readonly Call[]> {
  const calls: Call[] = [];
  for (let cursor: string | null = null; ;) {
    const page = await store.listCalls({ tenant: 'default' }, cursor, 200);
    calls.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === null) return calls.toReversed();
  }
}

/** The values by a key of theirs. */
export function grouped<Key, Value>(
  values: readonly Value[],
  keyOf: (value: Value) => Key,
): Map<Key, Value[]> {
  const groups: Map<Key, Value[]> = new Map();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/** The version of a call that an entry shows; null if it shows none. */
export function callSeenIn({ data }: Entry): SeenCall | null {
  const { call } = data;
  return typeof call === 'object' && call !== null ? (call as SeenCall) : null;
}
