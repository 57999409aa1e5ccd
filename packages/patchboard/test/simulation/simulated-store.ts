import type { Call } from '../../src/core/call/call.ts';
import { StorageUnavailable } from '../../src/core/failures.ts';
import type { CommittedRow, Store } from '../../src/core/ports.ts';
import type { NodeKey } from '../../src/cluster/node-table.ts';
import type { MemoryNode } from '../support/memory-nodes.ts';
import type { Stream } from './random.ts';
import type { SimulatedDatabase } from './simulated-database.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { StoreFaults } from './store-faults.ts';

const WRITES: ReadonlySet<string> = new Set([
  'insertCall',
  'replaceCall',
  'ensureRun',
  'cancelRun',
  'saveTools',
  'removeTools',
  'putDocument',
  'addDocument',
  'deleteDocument',
  'appendJournal',
  'append',
  'purgeCalls',
]);

/** What nodes that share a store share besides calls and documents. */
export type SharedMembers = Required<Pick<Store, 'tokens' | 'devices'>>;

type TransactionKind = 'read' | 'write' | 'table';

const FENCED = 'another process has taken over the store';
/** How long a process that was taken over may not notice it, if it writes nothing. */
const HEARTBEAT_MS = 2000;

/** The connection of one process to the simulated database. */
export class StoreConnection {
  readonly process: SimulatedProcess;
  readonly node: MemoryNode | null;
  readonly #database: SimulatedDatabase;
  readonly #faults: StoreFaults;
  readonly #stream: Stream;
  readonly #fencedListeners: ((problem: string) => void)[] = [];
  /** Settles when the last write that was sent has been executed: writes of one process keep their order. */
  #lastWrite: Promise<unknown> = Promise.resolve();
  #waitingWrites = 0;
  #wasFenced = false;
  #distribute: ((revision: number) => Promise<void>) | null = null;

  /** `node`: if several nodes share the store. */
  constructor(database: SimulatedDatabase, process: SimulatedProcess, node: MemoryNode | null) {
    this.#database = database;
    this.process = process;
    this.node = node;
    this.#faults = database.faultsOf(process.node);
    this.#stream = database.random.of('store', process.node);
  }

  get writeProblem(): string | null {
    return this.#isFenced ? FENCED : this.#faults.problem;
  }

  onFenced(listener: (problem: string) => void): void {
    this.#fencedListeners.push(listener);
  }

  onChanged(distribute: (revision: number) => Promise<void>): void {
    this.#distribute = distribute;
  }

  /** This process has taken over another one. */
  tookOver(node: NodeKey): void {
    this.#database.takeovers.note(node);
  }

  fence(): void {
    this.#wasFenced = true;
    const ms = this.#stream.delay(0, HEARTBEAT_MS);
    this.#database.kernel.after(ms, () => this.process.enter(() => this.#noticeFence()));
  }

  /** Whether the store has the method: some are optional. */
  has(method: string): boolean {
    return method === 'changes' || typeof Reflect.get(this.#database.store, method) === 'function';
  }

  /** A request of the port `Store`. */
  request(method: string, args: readonly unknown[]): unknown {
    const isWrite = WRITES.has(method);
    const kind = isWrite ? 'write' : 'read';
    const execute = (): unknown => this.#database.execute(this.process.name, this.node, method, args);
    if (this.#isImmediate(isWrite)) {
      const result = execute();
      return result instanceof Promise ? this.#delivered(this.#database.kernel.real(result), 0) : result;
    }
    if (this.#distribute === null || !this.#database.isRevised(method)) return this.transact(kind, execute);
    let revision = 0;
    const revised = async (): Promise<unknown> => {
      const result = await execute();
      revision = await this.#database.revision(this.process.name);
      return result;
    };
    return this.transact(kind, revised).then(async (result) => {
      await this.#distribute?.(revision);
      return result;
    });
  }

  /**
   * Executes `work` in the database as one transaction; it takes time and fails as requests do. Writes keep their order, and
   * a fenced process writes nothing. `table`: it checks the fence itself.
   */
  transact<Value>(kind: TransactionKind, work: () => Value | Promise<Value>): Promise<Value> {
    const [before, after] = [this.#delay(), this.#delay()];
    // A request on its way when the process is killed may still be executed.
    const survives = this.#stream.chance(0.5);
    const executed = this.#executed(work, kind, before, survives);
    if (kind === 'write') {
      this.#waitingWrites += 1;
      this.#lastWrite = executed.then(nothing, nothing).then(() => {
        this.#waitingWrites -= 1;
      });
    }
    return this.#delivered(executed, after);
  }

  watch(listener: (row: CommittedRow) => void): () => void {
    const rows: CommittedRow[] = [];
    let isWatching = true;
    const stop = this.#database.store.watch((committed) => {
      rows.push(committed);
      this.#database.kernel.after(this.#delay(), () =>
        this.process.enter(() => {
          const next = rows.shift();
          if (isWatching && next !== undefined) listener(next);
        }),
      );
    });
    this.process.onKilled(stop);
    return () => {
      isWatching = false;
      stop();
    };
  }

  /** Whether the store returns at once, as a store in the same process may. */
  #isImmediate(isWrite: boolean): boolean {
    const faults = this.#faults;
    if (this.#database.profile.storeTiming !== 'immediate' || this.#waitingWrites > 0 || this.#isFenced)
      return false;
    return !faults.has('stalled') && !faults.has('slow') && faults.refusal(isWrite) === null;
  }

  async #executed<Value>(
    work: () => Value | Promise<Value>,
    kind: TransactionKind,
    before: number,
    survives: boolean,
  ): Promise<Value> {
    const { kernel } = this.#database;
    const faults = this.#faults;
    const earlier = kind === 'write' ? this.#lastWrite : null;
    const isInDoubt = this.#stream.chance(0.3);
    await kernel.sleep(before);
    await earlier;
    await faults.notStalled();
    if (this.process.isDead && !survives) return await new Promise<never>(nothing);
    if (kind === 'write' && this.#isFenced) throw new StorageUnavailable(FENCED);
    const refusal = faults.refusal(kind !== 'read');
    if (refusal === null) return await kernel.real(Promise.resolve(work()));
    // Whether such a request was executed is not known to the process.
    if (kind === 'table' && isInDoubt) await kernel.real(Promise.resolve(work()));
    throw refusal;
  }

  /** Passes a result on to the process, `ms` after it is there. */
  #delivered<Value>(executed: Promise<Value>, ms: number): Promise<Value> {
    const { kernel } = this.#database;
    return new Promise((resolve, reject) => {
      const deliver = (action: () => void): void => void kernel.after(ms, () => this.process.enter(action));
      executed.then(
        (value) => deliver(() => resolve(value)),
        (error: unknown) =>
          deliver(() => {
            if (this.#isFenced) this.#noticeFence();
            reject(error);
          }),
      );
    });
  }

  get #isFenced(): boolean {
    return this.#wasFenced || (this.node !== null && this.#database.isFenced(this.node));
  }

  #noticeFence(): void {
    for (const listener of this.#fencedListeners.splice(0)) listener(FENCED);
  }

  #delay(): number {
    return this.#stream.delay(0.01, this.#database.profile.storeDelayMs) * this.#faults.factor;
  }
}

/**
 * The port `Store` of one process: each request takes its time before and after its commit, and may fail. `shared`: if
 * several nodes share the store.
 */
export function simulatedStore(connection: StoreConnection, shared: SharedMembers | null): Store {
  const isShared = shared !== null;
  const own: Readonly<Record<string, unknown>> = {
    watch: (listener: (row: CommittedRow) => void) => connection.watch(listener),
    onFenced: (listener: (problem: string) => void) => connection.onFenced(listener),
    writeProblem: () => connection.writeProblem,
    async *openCalls(...args: readonly unknown[]): AsyncIterable<Call> {
      yield* (await connection.request('openCalls', args)) as readonly Call[];
    },
    close: async () => {},
    onChanged: isShared
      ? (distribute: (revision: number) => Promise<void>) => connection.onChanged(distribute)
      : undefined,
    appliesChanges: isShared,
    tokens: undefined,
    devices: undefined,
    ...shared,
    // Copies of a whole store and several chains are not simulated.
    copy: undefined,
    readLedgerOrder: undefined,
    readWriterHeads: undefined,
    ...(isShared ? {} : { changes: undefined }),
  };
  const requests: Map<string, (...args: readonly unknown[]) => unknown> = new Map();
  return new Proxy({} as Store, {
    get: (_target, name) => {
      const method = String(name);
      if (method in own) return own[method];
      if (!connection.has(method)) return undefined;
      const known = requests.get(method);
      if (known !== undefined) return known;
      const request = (...args: readonly unknown[]): unknown => connection.request(method, args);
      requests.set(method, request);
      return request;
    },
  });
}

function nothing(): void {}
