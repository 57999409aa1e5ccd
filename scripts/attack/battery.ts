import type { SeededRandom } from '../chaos/seeded-random.ts';
import type { Target } from './target.ts';

/** Extent of a battery: `short` is part of `npm test`. */
export interface AttackOptions {
  readonly isShort: boolean;
  readonly random: SeededRandom;
}

/** Sends one kind of hostile input and records violations. */
export type Battery = (target: Target, tally: Tally, options: AttackOptions) => Promise<void>;

/** Counts attempts by outcome and keeps the violations. */
export class Tally {
  tried = 0;
  readonly outcomes: Map<string, number> = new Map();
  readonly violations: string[] = [];

  /** Records one attempt; `violation` is null if the server behaved as guaranteed. */
  record(outcome: string, violation: string | null): void {
    this.tried += 1;
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    if (violation !== null) this.violations.push(violation);
  }

  get summary(): string {
    const counts = [...this.outcomes].toSorted(([a], [b]) => a.localeCompare(b));
    return `${this.tried} tried (${counts.map(([outcome, count]) => `${outcome}: ${count}`).join(', ')})`;
  }
}

/** Runs `attempt` for each item, `width` at a time. */
export async function eachOf<T>(
  items: readonly T[],
  width: number,
  attempt: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await attempt(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
