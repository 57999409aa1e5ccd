import type { Call } from '../call/call.ts';
import type { LedgerRow } from './ledger.ts';

/** Selects the rows of event kinds that a reader sees. */
export interface EventRowFilter {
  readonly tenant: string;
  /** Only rows about this call. */
  readonly callId?: string;
  /** Only rows about no call, and rows about stored calls of this agent or this client. Absent: all rows of the tenant. */
  readonly askedOrRunBy?: { readonly agentId: string; readonly clientId: string | null };
}

/** The members of a call that events contain, and that decide which principals may see them. */
export type CallNames = Pick<Call, 'id' | 'tenant' | 'runId' | 'toolName' | 'agentId' | 'clientId'>;

export interface EventRow<Named extends CallNames = CallNames> {
  readonly row: Omit<LedgerRow, 'hash' | 'traceId'>;
  /** Null: the row is about no call, or the call is no longer stored. */
  readonly call: Named | null;
}

/** A bounded range of the ledger, filtered for a reader of events. */
export interface EventSlice {
  readonly rows: readonly EventRow[];
  /** `rows` has every matching row up to this sequence; the next slice begins after it. */
  readonly reached: number;
  /** True: the ledger ends at `reached`. */
  readonly isEnd: boolean;
}
