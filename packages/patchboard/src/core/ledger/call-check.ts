import { isCallState, isTerminal } from '@patchboard/wire';
import { isOpen, type Call } from '../call/call.ts';
import { messageOf } from '../failures.ts';
import type { LedgerRow } from './ledger.ts';
import type { Digest, Store } from '../ports.ts';

/** The arguments recorded so far for a call that has not ended. */
interface Recorded {
  readonly seq: number;
  /** Null: no longer known. */
  readonly argsHash: string | null;
}

/** The members of a row's body that are used here. */
interface RowBody {
  readonly state?: unknown;
  readonly args_sha256?: string;
  readonly result_sha256?: string;
  readonly edits?: unknown;
}

/**
 * Compares stored calls with the hashes in their rows. Rows are passed in by sequence. Each call is read once, when it
 * has ended, so memory is bounded by the number of calls open at the same time. Skips redacted arguments, which differ
 * from the recorded ones, and calls that are no longer stored.
 */
export class CallCheck {
  readonly #store: Pick<Store, 'findCall' | 'readLedger'>;
  readonly #digest: Digest;
  readonly #open: Map<string, Recorded> = new Map();

  constructor(store: Pick<Store, 'findCall' | 'readLedger'>, digest: Digest) {
    this.#store = store;
    this.#digest = digest;
  }

  /** Checks the call that this row ends. Returns the problem; null if there is none, or the call has not ended. */
  async take({ seq, kind, callId, body }: LedgerRow): Promise<string | null> {
    if (callId === null || (kind !== 'call.state' && kind !== 'permission_decided')) return null;
    const entry = JSON.parse(body) as RowBody;
    if (entry.args_sha256 !== undefined) this.#open.set(callId, { seq, argsHash: entry.args_sha256 });
    // An edit recorded by an older version, without a hash of the edited arguments.
    else if (entry.edits !== undefined) this.#open.set(callId, { seq, argsHash: null });
    const { state } = entry;
    if (!isCallState(state) || !isTerminal(state)) return null;
    const recorded = this.#open.get(callId);
    this.#open.delete(callId);
    return await this.#read(callId, (call) => {
      if (call.state.name !== state)
        return `${callId} is stored as ${call.state.name}, but ${state} was recorded`;
      return this.#argsProblem(call, recorded) ?? this.#resultProblem(call, entry.result_sha256);
    });
  }

  /** Checks the calls that had not ended by row `head`, except for those that changed since. */
  async takeOpen(head: number): Promise<{ readonly seq: number; readonly problem: string } | null> {
    for (const [callId, recorded] of this.#open) {
      const problem = await this.#read(callId, (call) =>
        isOpen(call)
          ? this.#argsProblem(call, recorded)
          : `${callId} is stored as ended, but no row records its end`,
      );
      if (problem === null) continue;
      const since = await this.#store.readLedger({ callId }, head, 1, { withCalls: false });
      if (since.length === 0) return { seq: recorded.seq, problem };
    }
    return null;
  }

  async #read(callId: string, check: (call: Call) => string | null): Promise<string | null> {
    try {
      const call = await this.#store.findCall(callId);
      return call === undefined ? null : check(call);
    } catch (error) {
      return `the stored call ${callId} cannot be read: ${messageOf(error)}`;
    }
  }

  #argsProblem({ id, argsJson, argsRedacted }: Call, recorded: Recorded | undefined): string | null {
    if (argsRedacted || recorded === undefined || recorded.argsHash === null) return null;
    if (this.#digest.sha256(argsJson) === recorded.argsHash) return null;
    return `the stored arguments of ${id} are not those that were recorded`;
  }

  #resultProblem({ id, state }: Call, hash: string | undefined): string | null {
    if (state.name !== 'COMPLETED' || hash === undefined) return null;
    if (this.#digest.sha256(state.resultJson) === hash) return null;
    return `the stored result of ${id} is not the one that was recorded`;
  }
}
