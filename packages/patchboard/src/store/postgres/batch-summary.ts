import { isOpen, type Call } from '../../core/call/call.ts';
import type { LedgerDraft } from '../../core/ledger/ledger.ts';
import { pairKey } from '../../core/pair-key.ts';
import type { NewCall } from '../../core/ports.ts';
import { STATE_CODES } from '../state-codes.ts';
import type { Write, WriteOutcome } from './write.ts';

/** What the first round trip of a batch found out. */
export interface AppliedBatch {
  readonly outcomes: readonly WriteOutcome[];
  /** The ledger rows of the writes that apply, in their order. */
  readonly drafts: readonly LedgerDraft[];
  /** JSON of `[tenant, state code, count]` for the calls that ended; null if none did. */
  readonly ended: string | null;
  /** Calls whose arguments must be written too. */
  readonly rewritten: readonly Call[];
  /** Calls that claimed a key and were refused because of their run. */
  readonly unclaimed: readonly string[];
}

/** A call that was not inserted. `n` is its place among the inserted calls, from 1 on. */
export interface RefusedRow {
  readonly n: number;
  readonly holder: string | null;
  readonly body_hash: string | null;
  readonly agent_id: string | null;
  readonly created_at: number | null;
  readonly cancelled_at: number | null;
}

/** Combines what the statements of a batch returned, in the order of its writes. */
export function summary(
  writes: readonly Write[],
  refused: ReadonlyMap<number, RefusedRow>,
  lost: ReadonlySet<string>,
): AppliedBatch {
  const outcomes: WriteOutcome[] = [];
  const drafts: LedgerDraft[] = [];
  const counts = new Map<string, [tenant: string, state: number, calls: number]>();
  const rewritten: Call[] = [];
  const unclaimed: string[] = [];
  const count = (call: Call): void => {
    if (isOpen(call)) return;
    const code = STATE_CODES[call.state.name];
    const key = pairKey(call.tenant, String(code));
    const known = counts.get(key);
    if (known === undefined) counts.set(key, [call.tenant, code, 1]);
    else known[2] += 1;
  };
  let number = 0;
  for (const write of writes) {
    if (write.kind === 'insert') {
      number += 1;
      const { record } = write;
      const row = refused.get(number);
      if (row === undefined) {
        outcomes.push(INSERTED);
        drafts.push(...record.entries);
        count(record.call);
      } else {
        outcomes.push(refusal(record, row));
        if (record.idempotency !== null && row.holder === record.call.id) unclaimed.push(record.call.id);
      }
    } else if (write.kind === 'replace') {
      const isLost = lost.has(write.call.id);
      outcomes.push(isLost ? CONFLICT : REPLACED);
      if (isLost) continue;
      drafts.push(...write.entries);
      if (write.argsChanged) rewritten.push(write.call);
      count(write.call);
    } else if (write.kind === 'append') {
      outcomes.push(DONE);
      drafts.push(...write.entries);
    }
  }
  const ended = counts.size === 0 ? null : JSON.stringify([...counts.values()]);
  return { outcomes, drafts, ended, rewritten, unclaimed };
}

const INSERTED: WriteOutcome = { kind: 'inserted' };
const REPLACED: WriteOutcome = { kind: 'replaced' };
const CONFLICT: WriteOutcome = { kind: 'conflict' };
const DONE: WriteOutcome = { kind: 'done', value: undefined };

/** Why a call was not inserted: its key is used, or its run is cancelled or of another agent. */
function refusal({ call, run }: NewCall, row: RefusedRow): WriteOutcome {
  const { holder, body_hash: bodyHash, agent_id: agentId, created_at: createdAt } = row;
  if (holder !== null && bodyHash !== null && isDuplicate({ call }, row))
    return { kind: 'duplicate', callId: holder, bodyHash };
  if (agentId === null || createdAt === null) throw new Error(`run ${run.id} could not be created`);
  const { id, tenant } = run;
  return { kind: 'run_refused', run: { id, tenant, agentId, createdAt, cancelledAt: row.cancelled_at } };
}

/** Another call has the idempotency key. */
export function isDuplicate({ call }: Pick<NewCall, 'call'>, { holder }: RefusedRow): boolean {
  return holder !== null && holder !== call.id;
}
