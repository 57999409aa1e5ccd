import type { RunRow } from '../../data/run-row.ts';

export type CountedCalls = Pick<RunRow, 'total' | 'open' | 'running' | 'failed'>;

const NAMES = ['total', 'open', 'running', 'waiting', 'failed'] as const;
export type CountName = (typeof NAMES)[number];

/** A count with its words, or what is between two of them. */
interface CountPart {
  readonly words: string;
  /** Null between counts. */
  readonly name: CountName | null;
  /** Null between counts, and for what an older server does not count. */
  readonly count: number | null;
}

type Translate = (key: string, given: Readonly<Record<string, unknown>>, plural: number) => string;

/** Counts of the calls of a run or a trace; of open calls also how many wait. A dash for what an older server does not count. */
export function countsParts(calls: CountedCalls, t: Translate): readonly CountPart[] {
  const { total, open, running, failed } = calls;
  // Both are counted one after the other: a call may have ended between them.
  const waiting = open === null || running === null ? null : Math.max(open - running, 0);
  const counts: Readonly<Record<CountName, number | null>> = { total, open, running, waiting, failed };
  const hasSplit = waiting !== null && open !== 0;
  // The order and what is between the counts are those of the language: each name stands for its count.
  const places = Object.fromEntries(NAMES.map((name) => [name, `{${name}}`]));
  const line = t(hasSplit ? 'runs.openCounts' : 'runs.counts', places, 1);
  return line.split(/(\{\w+\})/).flatMap((words): readonly CountPart[] => {
    const name = NAMES.find((one) => words === `{${one}}`);
    if (name === undefined) return words === '' ? [] : [{ words, name: null, count: null }];
    const count = counts[name];
    return [{ words: t(`runs.parts.${name}`, { count: count ?? '–' }, count ?? 0), name, count }];
  });
}

/** The same as one text. */
export function countsWords(calls: CountedCalls, t: Translate): string {
  return countsParts(calls, t)
    .map(({ words }) => words)
    .join('');
}
