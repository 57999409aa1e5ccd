/** The keys of the console, as the overlay and the settings show them. The handlers are where the keys act. */
export interface KeyRow {
  readonly keys: readonly string[];
  /** Names the text of `keyboard.does`. */
  readonly does: KeyDeed;
}

type KeyDeed =
  'help' | 'search' | 'back' | 'palette' | 'move' | 'open' | 'select' | 'fold' | 'decide' | 'run' | 'cancel';

export const GLOBAL_KEYS: readonly KeyRow[] = [
  { keys: ['?'], does: 'help' },
  { keys: ['/'], does: 'search' },
  { keys: ['Esc'], does: 'back' },
  { keys: ['Ctrl / ⌘ + K'], does: 'palette' },
];

const MOVE: KeyRow = { keys: ['J', 'K'], does: 'move' };
const OPEN: KeyRow = { keys: ['Enter'], does: 'open' };
const SELECT: KeyRow = { keys: ['X'], does: 'select' };
const FOLD: KeyRow = { keys: ['←', '→'], does: 'fold' };

const PAGE_KEYS: Readonly<Record<string, readonly KeyRow[]>> = {
  tester: [MOVE, OPEN, { keys: ['Ctrl / ⌘ + Enter'], does: 'run' }, { keys: ['Esc'], does: 'cancel' }],
  calls: [MOVE, OPEN, SELECT],
  runs: [MOVE, OPEN, SELECT],
  run: [MOVE, OPEN, FOLD],
  trace: [MOVE, OPEN, FOLD],
  compare: [MOVE, OPEN],
  approvals: [MOVE, { keys: ['A', 'E', 'D'], does: 'decide' }],
  tools: [MOVE, OPEN],
  resources: [MOVE, OPEN],
  upstreams: [MOVE, OPEN],
  ledger: [MOVE, OPEN],
  metrics: [MOVE, OPEN],
};

/** The keys of a page, by the name of its route. */
export function keysOfPage(page: string): readonly KeyRow[] {
  return PAGE_KEYS[page] ?? [];
}

/** Every key once, for the settings. */
export function everyKey(): readonly KeyRow[] {
  const rows = [...GLOBAL_KEYS, ...Object.values(PAGE_KEYS).flat()];
  return rows.filter(({ does }, at) => rows.findIndex((other) => other.does === does) === at);
}
