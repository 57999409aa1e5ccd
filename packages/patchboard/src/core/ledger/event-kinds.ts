import type { LedgerKind } from './ledger.ts';

/**
 * The kinds of ledger rows that are events. Stores index them: if a kind is added here, a store with an index must
 * rebuild it, because older rows of that kind are not in it.
 */
export const EVENT_KINDS: readonly LedgerKind[] = [
  'call.state',
  'permission_required',
  'permission_decided',
  'input_required',
  'input_given',
  'device.changed',
  'registry.changed',
];

const KINDS: ReadonlySet<string> = new Set(EVENT_KINDS);

export function isEventKind(kind: string): boolean {
  return KINDS.has(kind);
}
