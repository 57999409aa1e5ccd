import { isOpen, type Call } from '../../src/core/call/call.ts';
import { StorageUnavailable } from '../../src/core/failures.ts';
import type { LedgerDraft } from '../../src/core/ledger/ledger.ts';
import type { Inserted, NewCall, Replaced, Store } from '../../src/core/ports.ts';
import type {
  CallPlace,
  HandedOver,
  NodeKey,
  NodeReport,
  NodeRow,
  NodeTable,
} from '../../src/cluster/node-table.ts';
import { NodeFenced } from '../../src/cluster/node-table.ts';

interface Holding {
  owner: number;
  /** Null: taken since the last move. */
  movedBy: number | null;
  offered: boolean;
}

/** A node of `MemoryNodes`: its store marks conflicts with moves of other nodes, and writes nothing once it is fenced. */
export interface MemoryNode {
  readonly table: NodeTable;
  readonly store: Store;
}

/** The nodes that share a store in memory. Each method of a table is one transaction. */
export class MemoryNodes {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #rows: Map<number, NodeRow> = new Map();
  readonly #holdings: Map<string, Holding> = new Map();
  readonly #homes: Map<string, NodeKey & { readonly place: string }> = new Map();
  /** True: the tables reject, as if the database could not be reached. */
  isDown = false;

  /** `now`: the clock of the database. */
  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Takes a free writer, and the calls that no living node holds. */
  join(holder: string): MemoryNode {
    const free = [...this.#rows.values()].find(({ state }) => state === 'free');
    const writer = free?.writer ?? this.#rows.size + 1;
    const self: NodeKey = { writer, epoch: (free?.epoch ?? 0) + 1 };
    const row = {
      ...self,
      beat: 1,
      state: 'held',
      holder,
      url: null,
      version: null,
      fingerprint: null,
    } as const;
    const fresh = { room: 0, calls: 0, revision: 0, follows: [], startedAt: this.#now(), tookOver: null };
    this.#rows.set(writer, { ...row, ...fresh });
    for (const holding of this.#holdings.values())
      if (holding.owner === writer || this.#rows.get(holding.owner)?.state === 'free')
        Object.assign(holding, { owner: writer, movedBy: null, offered: false });
    return { table: this.#table(self), store: this.#nodeStore(self) };
  }

  /** The writer that holds the call, or ended it. */
  ownerOf(id: string): number | undefined {
    return this.#holdings.get(id)?.owner;
  }

  /** Whether the node still holds its writer: otherwise it is fenced. */
  holds({ writer, epoch }: NodeKey): boolean {
    const row = this.#rows.get(writer);
    return row?.epoch === epoch && row.state !== 'free';
  }

  #check(self: NodeKey): void {
    if (this.isDown) throw new StorageUnavailable('the database cannot be reached');
    if (!this.holds(self)) throw new NodeFenced('another node has taken over this one');
  }

  #change(writer: number, change: Partial<NodeRow>): void {
    const row = this.#rows.get(writer);
    if (row !== undefined) this.#rows.set(writer, { ...row, ...change });
  }

  async #open(select: (holding: Holding, call: Call) => boolean): Promise<Call[]> {
    const calls: Call[] = [];
    for (const [id, holding] of this.#holdings) {
      const call = await this.#store.findCall(id);
      if (call !== undefined && isOpen(call) && select(holding, call)) calls.push(call);
    }
    return calls.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  #give(calls: readonly Call[], owner: number): void {
    for (const { id } of calls)
      Object.assign(this.#holdings.get(id) ?? {}, { owner, movedBy: null, offered: false });
  }

  /** With a new version, so that no move of the former owner succeeds. */
  async #claim({ writer }: NodeKey, calls: readonly Call[]): Promise<CallPlace[]> {
    for (const call of calls)
      await this.#store.replaceCall({ ...call, version: call.version + 1 }, call.version, []);
    this.#give(calls, writer);
    return calls.map(({ id, version }) => ({ id, version: version + 1, owner: writer, isOpen: true }));
  }

  async #place(id: string): Promise<CallPlace[]> {
    const call = await this.#store.findCall(id);
    if (call === undefined) return [];
    return [{ id, version: call.version, owner: this.ownerOf(id) ?? null, isOpen: isOpen(call) }];
  }

  #table(self: NodeKey): NodeTable {
    const { writer } = self;
    const isOwn = (holding: Holding): boolean => holding.owner === writer;
    const checked = async <T>(work: () => T | Promise<T>): Promise<T> => {
      this.#check(self);
      return await work();
    };
    const handOver = async (preferred: number | null): Promise<HandedOver> => {
      const living = [...this.#rows.values()].filter((row) => row.writer !== writer && row.state === 'held');
      const [best] = living.toSorted((a, b) => b.room - a.room);
      const to = living.find((row) => row.writer === preferred) ?? best;
      if (to === undefined) return { to: null, calls: 0 };
      const calls = await this.#open(isOwn);
      this.#give(calls, to.writer);
      return { to: to.writer, calls: calls.length };
    };
    return {
      self,
      beat: (report: NodeReport) =>
        checked(() => {
          this.#change(writer, { ...report, beat: (this.#rows.get(writer)?.beat ?? 0) + 1 });
          return { nodes: [...this.#rows.values()], now: this.#now() };
        }),
      takeOver: (dead) =>
        checked(async () => {
          const row = this.#rows.get(dead.writer);
          if (row?.beat !== dead.beat || !this.holds(dead)) return null;
          this.#change(dead.writer, { state: 'free', holder: null, epoch: dead.epoch + 1 });
          const calls = await this.#open(({ owner }) => owner === dead.writer);
          this.#give(calls, writer);
          this.#change(writer, {
            tookOver: { from: dead.writer, at: this.#now(), calls: calls.length },
          });
          return calls.map(({ id }) => id);
        }),
      takenCalls: () =>
        checked(async () =>
          (await this.#open((holding) => isOwn(holding) && holding.movedBy === null)).map(
            ({ id, version }) => ({ id, version }),
          ),
        ),
      calls: (ids) => this.#calls(ids, writer),
      claimOverdue: (from, before, limit, owners) =>
        checked(async () => {
          const due = await this.#open(({ owner }, { state }) => {
            const at = 'deadlineAt' in state ? state.deadlineAt : Infinity;
            return at >= from && at < before && owner !== writer && (owners?.includes(owner) ?? true);
          });
          return await this.#claim(self, due.slice(0, limit));
        }),
      movedByOthers: () =>
        checked(async () => {
          const calls = await this.#open(
            (holding) => isOwn(holding) && holding.movedBy !== null && holding.movedBy !== writer,
          );
          return (await Promise.all(calls.map(({ id }) => this.#place(id)))).flat();
        }),
      places: (ids) => checked(async () => (await Promise.all(ids.map((id) => this.#place(id)))).flat()),
      waitingFor: (clients) =>
        checked(async () => {
          const waiting = await this.#open(
            (holding, { state: { name } }) =>
              !isOwn(holding) && holding.offered && (name === 'PENDING' || name === 'APPROVED'),
          );
          return waiting.flatMap(({ id, tenant, clientId, version }) =>
            clients.some((client) => client.tenant === tenant && client.clientId === clientId)
              ? [{ id, tenant, clientId: clientId ?? '', version }]
              : [],
          );
        }),
      offer: (calls) =>
        checked(async () => {
          for (const { id, version } of calls) {
            const holding = this.#holdings.get(id);
            const stored = await this.#store.findCall(id);
            if (holding?.owner === writer && stored?.version === version) holding.offered = true;
          }
        }),
      offered: (limit, after) =>
        checked(async () =>
          (
            await this.#open(
              (holding, { id, clientId }) =>
                holding.offered && clientId === null && !isOwn(holding) && id > after,
            )
          )
            .slice(0, limit)
            .map(({ id, tenant, toolName, toolVersion }) => ({ id, tenant, toolName, toolVersion })),
        ),
      takeOffered: (ids) =>
        checked(async () =>
          this.#claim(
            self,
            await this.#open((holding, { id }) => holding.offered && !isOwn(holding) && ids.includes(id)),
          ),
        ),
      claimHome: ({ tenant, runId }, place) =>
        checked(() => {
          const key = JSON.stringify([tenant, runId]);
          const before = this.#homes.get(key) ?? null;
          if (before?.writer === writer && before.epoch === self.epoch) return { ...before, before: null };
          if (before !== null && this.holds(before) && this.#rows.get(before.writer)?.state === 'held')
            return { ...before, before: null };
          this.#homes.set(key, { ...self, place });
          return { writer, place, before };
        }),
      give: ({ id, version }, to) =>
        checked(async () => {
          if (this.#rows.get(to)?.state !== 'held') return false;
          const calls = await this.#open((holding, call) => isOwn(holding) && call.id === id);
          const given = calls.filter((call) => call.version === version);
          await this.#claim(self, given);
          this.#give(given, to);
          return given.length > 0;
        }),
      handOver: (preferred) => checked(() => handOver(preferred)),
      leave: async () => {
        if (!this.holds(self)) return { to: null, calls: 0 };
        const handed = await handOver(null);
        this.#change(writer, { state: 'free', holder: null });
        return handed;
      },
    };
  }

  async *#calls(ids: readonly string[], writer: number): AsyncIterable<Call> {
    for (const id of ids) {
      const call = await this.#store.findCall(id);
      if (call !== undefined && isOpen(call) && this.ownerOf(id) === writer) yield call;
    }
  }

  #nodeStore(self: NodeKey): Store {
    const { writer } = self;
    const check = (): void => {
      if (this.isDown || !this.holds(self)) throw new StorageUnavailable('this node is fenced');
    };
    const insertCall = async (record: NewCall): Promise<Inserted> => {
      check();
      const inserted = await this.#store.insertCall(record);
      if (inserted.kind === 'inserted')
        this.#holdings.set(record.call.id, { owner: writer, movedBy: writer, offered: false });
      return inserted;
    };
    const replaceCall = async (
      call: Call,
      expectedVersion: number,
      entries: readonly LedgerDraft[],
      argsChanged?: boolean,
      keepsHolder?: boolean,
    ): Promise<Replaced> => {
      check();
      const replaced = await this.#store.replaceCall(call, expectedVersion, entries, argsChanged);
      const owner = this.ownerOf(call.id) ?? writer;
      if (replaced.kind === 'conflict') return owner === writer ? replaced : { ...replaced, elsewhere: true };
      const keeps = keepsHolder === true;
      const isTaken = keeps && this.#holdings.get(call.id)?.movedBy === null;
      this.#holdings.set(call.id, {
        owner: keeps ? owner : writer,
        movedBy: isTaken ? null : writer,
        offered: false,
      });
      return replaced;
    };
    return new Proxy(this.#store, {
      get: (target, name) => {
        if (name === 'insertCall') return insertCall;
        if (name === 'replaceCall') return replaceCall;
        const member = Reflect.get(target, name) as unknown;
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }
}
