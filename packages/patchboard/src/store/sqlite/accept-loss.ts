import { LOCAL_MODE_ENDED } from '../../core/access/local-mode.ts';
import { DEFAULT_TENANT, OPERATOR_NAME } from '../../core/access/principal.ts';
import { plainRow } from '../../core/ledger/ledger.ts';
import type { Digest } from '../../core/ports.ts';
import { openStore } from './sqlite-store.ts';
import type { StoreLoss } from './store-loss.ts';

export interface AcceptedLoss extends StoreLoss {
  /** The ledger row that records it. */
  readonly row: number;
  /** Whether the lost store had keys, or that is unknown. */
  readonly endsLocalMode: boolean;
}

/**
 * Accepts the loss of a store: records the expected and the found head in a ledger row; from then on the head file follows
 * the store again. Resolves to null, without a change, if nothing is lost.
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
