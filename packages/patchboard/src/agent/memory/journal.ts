import { failure, messageOf } from '../../core/failures.ts';
import type { JournalDraft, JournalEntry, JournalStore } from '../../core/journals.ts';
import { AgentError } from '../agent-error.ts';

interface Write {
  readonly entries: readonly JournalDraft[];
  /** Somebody waits for it, and hears of what went wrong. */
  readonly isHeard: boolean;
  /** Null: all is well. */
  readonly ended: (problem: unknown) => void;
}

/**
 * What one agent writes down, in order. One write is under way at a time and what comes meanwhile goes into the next,
 * so that a reply that streams costs few commits. Nobody is told of an entry before it is durable.
 */
export class Journal {
  readonly id: string;
  readonly #store: JournalStore;
  readonly #told: (entry: JournalEntry) => void;
  #last: number;
  #queue: Write[] = [];
  #isWriting = false;
  /** What became of entries for which nobody waited. */
  #problem: unknown = null;
  #waiting: Set<() => void> = new Set();

  constructor(store: JournalStore, id: string, last: number, told: (entry: JournalEntry) => void) {
    this.#store = store;
    this.id = id;
    this.#last = last;
    this.#told = told;
  }

  /** The number of the newest entry that is durable. */
  get last(): number {
    return this.#last;
  }

  /** Resolves when the entries are durable. Rejects also for an earlier one that nobody waited for; then none is kept. */
  async append(...entries: readonly JournalDraft[]): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const ended = (problem: unknown): void => (problem === null ? resolve() : reject(problem as Error));
      this.#enqueue({ entries, isHeard: true, ended });
    });
  }

  /** Resolves when everything so far is durable. */
  async flush(): Promise<void> {
    await this.append();
  }

  /** Resolves when nothing is left to write; what could not be written is told to whoever writes next. */
  async settled(): Promise<void> {
    await new Promise<void>((resolve) =>
      this.#enqueue({ entries: [], isHeard: false, ended: () => resolve() }),
    );
  }

  /** In its turn, with nobody waiting. */
  note(entry: JournalDraft): void {
    this.#enqueue({ entries: [entry], isHeard: false, ended: () => {} });
  }

  async read(after: number, limit: number, kinds?: readonly string[]): Promise<readonly JournalEntry[]> {
    return await this.#store.readJournal(this.id, after, limit, kinds);
  }

  /** Resolves when there is an entry after number `after`, or `signal` fires. */
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
      const batch = this.#warned(this.#queue.splice(0));
      const problem = await this.#write(batch.flatMap(({ entries }) => entries)).then(
        () => null,
        (error: unknown) => error,
      );
      if (!batch.some(({ isHeard }) => isHeard)) this.#problem ??= problem;
      for (const { ended } of batch) ended(problem);
    }
    this.#isWriting = false;
  }

  /** Whoever waits is told of what was lost before them, while nothing of theirs is written; the rest is left. */
  #warned(batch: readonly Write[]): readonly Write[] {
    const lost = this.#problem;
    if (lost === null || !batch.some(({ isHeard }) => isHeard)) return batch;
    this.#problem = null;
    for (const { isHeard, ended } of batch) if (isHeard) ended(lost);
    return batch.filter(({ isHeard }) => !isHeard);
  }

  async #write(entries: readonly JournalDraft[]): Promise<void> {
    if (entries.length === 0) return;
    if (!(await this.#appended(entries))) throw takenOver(this.id);
    const first = this.#last + 1;
    this.#last += entries.length;
    entries.forEach((entry, index) => this.#told({ ...entry, no: first + index }));
    for (const wake of this.#waiting) wake();
  }

  async #appended(entries: readonly JournalDraft[]): Promise<boolean> {
    try {
      return await this.#store.appendJournal(this.id, this.#last, entries);
    } catch (error) {
      throw new AgentError(failure('internal', `the agent could not write: ${messageOf(error)}`), {
        cause: error,
      });
    }
  }
}

function takenOver(id: string): AgentError {
  const message = `another agent has the id ${id}: resume it, or use another id`;
  return new AgentError(failure('conflict', message));
}
