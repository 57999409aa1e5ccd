/** `stopped`: it was not begun. */
type BulkState = 'waiting' | 'running' | 'done' | 'failed' | 'stopped';

export interface BulkStep {
  readonly state: BulkState;
  /** What `done` resolved to, or why it failed. */
  readonly detail: string;
}

export interface BulkOptions<Item> {
  readonly act: (item: Item) => Promise<string>;
  readonly concurrency: number;
  /** Stops before the next item. Items that have begun continue: their effect could not be undone. */
  readonly signal: AbortSignal;
  readonly onStep: (index: number, step: BulkStep) => void;
  readonly messageOf: (error: unknown) => string;
}

/** Acts on each item, several at once. Resolves when none is left; never rejects. */
export async function runBulk<Item>(items: readonly Item[], options: BulkOptions<Item>): Promise<void> {
  const { act, concurrency, signal, onStep, messageOf } = options;
  const left = [...items.entries()];

  async function work(): Promise<void> {
    for (let entry = left.shift(); entry !== undefined; entry = left.shift()) {
      const [index, item] = entry;
      if (signal.aborted) {
        onStep(index, { state: 'stopped', detail: '' });
        continue;
      }
      onStep(index, { state: 'running', detail: '' });
      try {
        onStep(index, { state: 'done', detail: await act(item) });
      } catch (error) {
        onStep(index, { state: 'failed', detail: messageOf(error) });
      }
    }
  }

  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work));
}
