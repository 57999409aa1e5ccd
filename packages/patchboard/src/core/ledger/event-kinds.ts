import type { LedgerKind } from './ledger.ts';

/**
 * The kinds of ledger rows that readers of events are shown. Stores index by them: rows of a kind that is added here
 * are not found in what was indexed before, so a store that has an index must build it anew.
 */
export const EVENT_KINDS: readonly LedgerKind[] = [
  'call.state',
  'permission_required',
  'permission_decided',
  'device.changed',
  'registry.changed',
];

const KINDS: ReadonlySet<string> = new Set(EVENT_KINDS);

export function isEventKind(kind: string): boolean {
  return KINDS.has(kind);
}
