import type { World } from './world.ts';

/** What happened in one simulation, or in many. */
export type Counts = Readonly<Record<(typeof COUNTED)[number], number>>;

const COUNTED = [
  'events',
  'requests',
  'calls',
  'tools',
  'kills',
  'pauses',
  'takeovers',
  'stops',
  'storeFaults',
  'approvals',
  'deadlines',
  'seals',
  'lost',
] as const;

export function countsOf({ kernel, history, effects }: World): Counts {
  const count = (...whats: readonly string[]): number =>
    history.entries.filter(({ what }) => whats.includes(what)).length;
  const ended = new Map<unknown, unknown>();
  for (const { data } of history.entries) {
    const { id, state } = (data['call'] ?? {}) as { id?: unknown; state?: unknown };
    if (id !== undefined) ended.set(id, state);
  }
  const inState = (name: string): number => [...ended.values()].filter((state) => state === name).length;
  return {
    events: kernel.events,
    requests: count('submit', 'wait', 'read', 'cancel', 'cancel run', 'decide'),
    calls: ended.size,
    tools: effects.begun.length,
    kills: count('kill'),
    pauses: count('pause'),
    takeovers: count('fenced'),
    stops: count('stopped'),
    storeFaults: count('store'),
    approvals: count('decided'),
    deadlines: inState('TIMED_OUT'),
    seals: inState('SEALED'),
    lost: count('lost'),
  };
}

export function sumOf(all: readonly Counts[]): Counts {
  const sum = (name: (typeof COUNTED)[number]): number =>
    all.reduce((total, counts) => total + counts[name], 0);
  return Object.fromEntries(COUNTED.map((name) => [name, sum(name)])) as Counts;
}
