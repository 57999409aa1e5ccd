import { LOCAL_MODE_ENDED } from '../../core/access/local-mode.ts';
import { DEFAULT_TENANT, OPERATOR_NAME } from '../../core/access/principal.ts';
import { plainRow } from '../../core/ledger/ledger.ts';
import type { Digest } from '../../core/ports.ts';
import { openStore } from './sqlite-store.ts';
import type { StoreLoss } from './store-loss.ts';

export interface AcceptedLoss extends StoreLoss {
  /** The ledger row that says so. */
  readonly row: number;
  /** The store that was lost had keys, or nothing is known of it. */
  readonly endsLocalMode: boolean;
}

/**
 * Goes on with what the store holds: a ledger row says what was expected and what was found, and from there the head file
 * follows the store again. Null: nothing is lost, and nothing was changed.
 */
export async function acceptLoss(file: string, digest: Digest, now: number): Promise<AcceptedLoss | null> {
  const { store, loss } = await openStore({ file, digest }, true);
  try {
    if (loss === null) return null;
    const found = await store.ledgerHead();
    const { problem, expected } = loss;
    const row = plainRow('store.loss_accepted', DEFAULT_TENANT, now, {
      by: OPERATOR_NAME,
      problem,
      expected:
        expected === null ? null : { store_id: expected.storeId, seq: expected.seq, hash: expected.hash },
      found: { seq: found.seq, hash: found.hash },
    });
    const endsLocalMode = expected?.keysExisted ?? true;
    if (endsLocalMode) await store.putDocument(LOCAL_MODE_ENDED.kind, LOCAL_MODE_ENDED.id, '{}', [row]);
    else await store.append([row]);
    return { ...loss, row: (await store.ledgerHead()).seq, endsLocalMode };
  } finally {
    await store.close();
  }
}
