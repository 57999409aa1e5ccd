import type { Call } from '../call/call.ts';
import type { LedgerRow } from './ledger.ts';

/** Which rows a reader of events is shown; all of them are of an event kind. */
export interface EventRowFilter {
  readonly tenant: string;
  /** Rows about this call only. */
  readonly callId?: string;
  /** Rows about no call, and rows about stored calls of this agent or this client. Absent: every row of the tenant. */
  readonly askedOrRunBy?: { readonly agentId: string; readonly clientId: string | null };
}

/** What an event shows of its call, and what decides who may see it. */
export type CallNames = Pick<Call, 'id' | 'tenant' | 'runId' | 'toolName' | 'agentId' | 'clientId'>;

export interface EventRow<Named extends CallNames = CallNames> {
  readonly row: Omit<LedgerRow, 'hash' | 'traceId'>;
  /** Null: the row is about no call, or the call is no longer stored. */
  readonly call: Named | null;
}

/** One bounded part of the ledger, as a reader of events sees it. */
export interface EventSlice {
  readonly rows: readonly EventRow[];
  /** Every matching row after the start and up to this sequence is in `rows`; the next slice begins after it. */
  readonly reached: number;
  /** The ledger ends at `reached`. */
  readonly isEnd: boolean;
}
