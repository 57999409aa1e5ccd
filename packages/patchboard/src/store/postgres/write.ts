import type { Call } from '../../core/call/call.ts';
import type { LedgerDraft } from '../../core/ledger/ledger.ts';
import type { Inserted, NewCall, Replaced } from '../../core/ports.ts';
import type { Transaction } from '../../postgres/connection.ts';

/** A new call. */
export interface InsertWrite {
  readonly kind: 'insert';
  readonly record: NewCall;
}

/** A compare-and-set of a call. */
export interface ReplaceWrite {
  readonly kind: 'replace';
  readonly call: Call;
  readonly expectedVersion: number;
  readonly entries: readonly LedgerDraft[];
  readonly argsChanged: boolean;
  /** The node that holds the call keeps it. */
  readonly keepsHolder: boolean;
}

/** Ledger rows about no call. */
interface AppendWrite {
  readonly kind: 'append';
  readonly entries: readonly LedgerDraft[];
}

/** Any other change: a transaction of its own. Returns the result and the ledger rows that are committed with it. */
export interface OtherWrite {
  readonly kind: 'other';
  readonly run: (
    transaction: Transaction,
  ) => Promise<{ readonly value: unknown; readonly entries: readonly LedgerDraft[] }>;
}

export type Write = InsertWrite | ReplaceWrite | AppendWrite | OtherWrite;

/** The result of one write of a committed batch. */
export type WriteOutcome =
  | Inserted
  /** `current` is read after the commit. */
  | Extract<Replaced, { kind: 'replaced' }>
  | { readonly kind: 'conflict' }
  | { readonly kind: 'done'; readonly value: unknown };

/** The length of the largest texts of a write, which bounds the size of a batch. */
export function charactersOf(write: Write): number {
  switch (write.kind) {
    case 'insert':
      return write.record.call.argsJson.length;
    case 'replace':
      return 'resultJson' in write.call.state ? write.call.state.resultJson.length : 0;
    default:
      return 0;
  }
}
