import type { Call } from '../../src/core/call/call.ts';
import type { LedgerDraft } from '../../src/core/ledger/ledger.ts';
import type { Peers } from '../../src/core/peers.ts';
import type { Inserted, NewCall, Replaced, Store } from '../../src/core/ports.ts';

/** The peers of one of two nodes. The test decides what they report. */
export class TestPeers implements Peers {
  readonly isSingle = false;
  /** False: notifications to the other node are lost. */
  notifies = true;
  leased = true;
  other: TestPeers | null = null;
  /** The calls that this node has moved and that the other one held before. */
  readonly told: Call[] = [];
  #take: ((calls: AsyncIterable<Call>) => Promise<void>) | null = null;
  look: (callId: string, version: number) => void = () => {};
  #fenced: ((problem: string) => void) | null = null;

  async onOrphaned(take: (calls: AsyncIterable<Call>) => Promise<void>): Promise<void> {
    this.#take = take;
  }

  moved(call: Call): void {
    this.told.push(call);
    if (this.notifies) this.other?.look(call.id, call.version);
  }

  onMoved(look: (callId: string, version: number) => void): void {
    this.look = look;
  }

  hasLease(): boolean {
    return this.leased;
  }

  onFenced(listener: (problem: string) => void): void {
    this.#fenced = listener;
  }

  /** The other node is gone: its calls fall to this one. */
  async orphaned(calls: AsyncIterable<Call>): Promise<void> {
    await this.#take?.(calls);
  }

  fence(problem: string): void {
    this.#fenced?.(problem);
  }
}

export interface TestNode {
  readonly store: Store;
  readonly peers: TestPeers;
}

/**
 * Two nodes over one store. Each sees through its own `Store` which calls the other one holds: as a store that several
 * nodes share does, it marks the conflicts of their moves as `elsewhere`.
 */
export function twoNodes(shared: Store): { readonly a: TestNode; readonly b: TestNode } {
  /** The node that made the last move of each call. */
  const holders = new Map<string, TestPeers>();
  const [a, b] = [new TestPeers(), new TestPeers()];
  a.other = b;
  b.other = a;
  const node = (peers: TestPeers): TestNode => ({ peers, store: nodeStore(shared, peers, holders) });
  return { a: node(a), b: node(b) };
}

function nodeStore(shared: Store, self: TestPeers, holders: Map<string, TestPeers>): Store {
  const insertCall = async (record: NewCall): Promise<Inserted> => {
    const inserting = shared.insertCall(record);
    // The holder is set with the row, not later.
    const inserted = inserting instanceof Promise ? await inserting : inserting;
    if (inserted.kind === 'inserted') holders.set(record.call.id, self);
    return inserted;
  };
  const replaceCall = async (
    call: Call,
    expectedVersion: number,
    entries: readonly LedgerDraft[],
    argsChanged?: boolean,
    keepsHolder?: boolean,
  ): Promise<Replaced> => {
    const replacing = shared.replaceCall(call, expectedVersion, entries, argsChanged);
    const replaced = replacing instanceof Promise ? await replacing : replacing;
    if (replaced.kind === 'replaced' && keepsHolder !== true) holders.set(call.id, self);
    if (replaced.kind === 'conflict' && holders.get(call.id) !== self)
      return { ...replaced, elsewhere: true };
    return replaced;
  };
  return new Proxy(shared, {
    get: (target, name) => {
      if (name === 'insertCall') return insertCall;
      if (name === 'replaceCall') return replaceCall;
      const member = Reflect.get(target, name) as unknown;
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
