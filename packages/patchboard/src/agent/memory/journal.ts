import { failure, messageOf } from '../../core/failures.ts';
import type { JournalDraft, JournalEntry, JournalStore } from '../../core/journals.ts';
import { AgentError } from '../agent-error.ts';

interface Write {
  readonly entries: readonly JournalDraft[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
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

  /** Resolves when the entries are durable. Rejects also for an earlier entry that nobody waited for. */
  async append(...entries: readonly JournalDraft[]): Promise<void> {
    await new Promise<void>((resolve, reject) => this.#enqueue({ entries, resolve, reject }));
    const problem = this.#problem;
    this.#problem = null;
    if (problem !== null) throw problem;
  }

  /** Resolves when everything so far is durable. */
  async flush(): Promise<void> {
    await this.append();
  }

  /** Resolves when nothing is left to write; what could not be written is told to whoever writes next. */
  async settled(): Promise<void> {
    await new Promise<void>((resolve) => this.#enqueue({ entries: [], resolve, reject: () => resolve() }));
  }

  /** In its turn, with nobody waiting. */
  note(entry: JournalDraft): void {
    const reject = (error: unknown): void => void (this.#problem ??= error);
    this.#enqueue({ entries: [entry], resolve: () => {}, reject });
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
      const batch = this.#queue.splice(0);
      try {
        await this.#write(batch.flatMap(({ entries }) => entries));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isWriting = false;
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
