import { TokenBuckets, type Rate } from './access/token-buckets.ts';
import type { DocumentKind } from './documents.ts';
import { messageOf } from './failures.ts';
import type { Peers } from './peers.ts';
import type { Clock, Log, Store } from './ports.ts';
import type { ToolChange } from './store-changes.ts';

export interface SharedChangesParts {
  readonly store: Pick<Store, 'changes' | 'onChanged'>;
  readonly peers: Pick<Peers, 'isSingle' | 'announce' | 'onAnnounced'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Applies the present state of one document; `body` null: it was deleted. Applying it twice changes nothing. */
export type ApplyDocument = (id: string, body: string | null) => void;
export type ApplyTools = (changes: readonly ToolChange[]) => Promise<void>;

/** Catching up after a miss, for all misses of this node together: a flood of unknown names must not become one of reads. */
const AFTER_MISSES: Rate = { burst: 50, perSecond: 50 };

/**
 * Brings the memory of this node up to what all nodes have stored. Each owner of documents registers once; changes are
 * applied in the order of their revisions. On a single node nothing is read, and nothing waits.
 */
export class SharedChanges {
  readonly #parts: SharedChangesParts;
  readonly #documents: Map<DocumentKind, ApplyDocument> = new Map();
  readonly #misses: TokenBuckets;
  #tools: ApplyTools = () => Promise.resolve();
  /** The newest revision that was applied. */
  #revision = 0;
  #running: Promise<number> | null = null;
  /** Begins when the running one has ended. */
  #next: Promise<number> | null = null;

  constructor(parts: SharedChangesParts) {
    this.#parts = parts;
    this.#misses = new TokenBuckets(parts.clock);
    if (!this.isShared) return;
    parts.store.onChanged?.((revision) => this.#distribute(revision));
    parts.peers.onAnnounced(() => this.catchUp());
  }

  /** Whether other nodes change the store. */
  get isShared(): boolean {
    return !this.#parts.peers.isSingle && this.#parts.store.changes !== undefined;
  }

  onDocument(kind: DocumentKind, apply: ApplyDocument): void {
    this.#documents.set(kind, apply);
  }

  onTools(apply: ApplyTools): void {
    this.#tools = apply;
  }

  /** Applies what was stored before this call. Resolves to the revision that was reached. */
  async catchUp(): Promise<number> {
    if (!this.isShared) return 0;
    if (this.#next !== null) return await this.#next;
    if (this.#running === null) return await this.#run();
    // The running one may have read before the caller's change.
    this.#next = this.#running.then(
      () => this.#run(),
      () => this.#run(),
    );
    return await this.#next;
  }

  /**
   * Called when a name is not known here: another node may have stored it a moment ago. Resolves to whether anything was
   * applied, so that it is worth looking again.
   */
  async afterMiss(): Promise<boolean> {
    if (!this.isShared) return false;
    const before = this.#revision;
    if (this.#next === null && !this.#misses.take('misses', AFTER_MISSES).allowed) return false;
    await this.catchUp();
    return this.#revision > before;
  }

  #run(): Promise<number> {
    this.#next = null;
    const running = this.#apply().finally(() => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }

  async #apply(): Promise<number> {
    const changes = await this.#parts.store.changes?.(this.#revision);
    if (changes === undefined) return this.#revision;
    for (const { kind, id, body } of changes.documents) this.#applyDocument(kind, id, body);
    if (changes.tools.length > 0) await this.#tools(changes.tools);
    this.#revision = Math.max(this.#revision, changes.revision);
    return this.#revision;
  }

  /** One unreadable document must not keep the others from being applied. */
  #applyDocument(kind: DocumentKind, id: string, body: string | null): void {
    try {
      this.#documents.get(kind)?.(id, body);
    } catch (error) {
      this.#parts.log.error('changes.unreadable', { kind, id, error: messageOf(error) });
    }
  }

  /** The change is committed, so that a failure here only delays it on other nodes: they ask once a second. */
  async #distribute(revision: number): Promise<void> {
    try {
      // A read that began before the change may have overwritten it in memory.
      await this.catchUp();
      await this.#parts.peers.announce(revision);
    } catch (error) {
      this.#parts.log.warn('changes.not_announced', { revision, error: messageOf(error) });
    }
  }
}
