import { reason } from '@patchboard/wire';
import { failure, messageOf } from '../../core/failures.ts';
import type { JournalDraft, JournalEntry, JournalStore } from '../../core/journals.ts';
import { AgentError } from '../agent-error.ts';

interface Write {
  readonly entries: readonly JournalDraft[];
  /** Whether the caller awaits the write and receives its error. */
  readonly isAwaited: boolean;
  /** Called with the error, or null. */
  readonly ended: (problem: unknown) => void;
}

/**
 * The append-only journal of one agent. Group commit: entries that arrive during a write share the next one, so that a
 * streaming reply needs few commits. Listeners receive an entry only after it is durable.
 */
export class Journal {
  readonly id: string;
  readonly #store: JournalStore;
  readonly #onDurable: (entry: JournalEntry) => void;
  #last: number;
  #queue: Write[] = [];
  #isWriting = false;
  /** The error of an unawaited write, to be thrown by the next awaited one. */
  #problem: unknown = null;
  #waiting: Set<() => void> = new Set();

  constructor(store: JournalStore, id: string, last: number, onDurable: (entry: JournalEntry) => void) {
    this.#store = store;
    this.id = id;
    this.#last = last;
    this.#onDurable = onDurable;
  }

  /** Number of the newest durable entry. */
  get last(): number {
    return this.#last;
  }

  /** Resolves when the entries are durable. If an earlier unawaited write failed, rejects with its error and stores nothing. */
  async append(...entries: readonly JournalDraft[]): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const ended = (problem: unknown): void => (problem === null ? resolve() : reject(problem as Error));
      this.#enqueue({ entries, isAwaited: true, ended });
    });
  }

  /** Resolves when everything so far is durable. */
  async flush(): Promise<void> {
    await this.append();
  }

  /** Resolves when the queue is empty. Does not reject; the next awaited write throws a pending error. */
  async settled(): Promise<void> {
    await new Promise<void>((resolve) =>
      this.#enqueue({ entries: [], isAwaited: false, ended: () => resolve() }),
    );
  }

  /** Queues an entry without waiting for it. */
  note(entry: JournalDraft): void {
    this.#enqueue({ entries: [entry], isAwaited: false, ended: () => {} });
  }

  async read(after: number, limit: number, kinds?: readonly string[]): Promise<readonly JournalEntry[]> {
    return await this.#store.readJournal(this.id, after, limit, kinds);
  }

  /** Resolves when there is an entry after number `after`, or on abort. */
  async grown(after: number, signal: AbortSignal): Promise<void> {
    if (this.#last > after || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }

  #enqueue(write: Write): void {
    this.#queue.push(write);
    if (this.#isWriting) return;
    this.#isWriting = true;
    this.#writeAll().catch((error: unknown) => void (this.#problem ??= error));
  }

  async #writeAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#withoutRejected(this.#queue.splice(0));
      const problem = await this.#write(batch.flatMap(({ entries }) => entries)).then(
        () => null,
        (error: unknown) => error,
      );
      if (!batch.some(({ isAwaited }) => isAwaited)) this.#problem ??= problem;
      for (const { ended } of batch) ended(problem);
    }
    this.#isWriting = false;
  }

  /** Rejects the awaited writes of the batch if an earlier unawaited write failed, and returns the others. */
  #withoutRejected(batch: readonly Write[]): readonly Write[] {
    const lost = this.#problem;
    if (lost === null || !batch.some(({ isAwaited }) => isAwaited)) return batch;
    this.#problem = null;
    for (const { isAwaited, ended } of batch) if (isAwaited) ended(lost);
    return batch.filter(({ isAwaited }) => !isAwaited);
  }

  async #write(entries: readonly JournalDraft[]): Promise<void> {
    if (entries.length === 0) return;
    if (!(await this.#appended(entries))) throw takenOver(this.id);
    const first = this.#last + 1;
    this.#last += entries.length;
    entries.forEach((entry, index) => this.#onDurable({ ...entry, no: first + index }));
    for (const wake of this.#waiting) wake();
  }

  async #appended(entries: readonly JournalDraft[]): Promise<boolean> {
    try {
      return await this.#store.appendJournal(this.id, this.#last, entries);
    } catch (error) {
      throw new AgentError(failure('internal', reason('agent_not_written', { error: messageOf(error) })), {
        cause: error,
      });
    }
  }
}

function takenOver(id: string): AgentError {
  return new AgentError(failure('conflict', reason('agent_id_taken', { id })));
}
