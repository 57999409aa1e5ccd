import { verifyLedger } from '../../../src/core/ledger/ledger-check.ts';
import { nodeDigest } from '../../../src/runtime/digest.ts';
import { grouped, storedCalls, type Check } from './check.ts';

/** The ledger verifies, and has one row for each state of each call. */
export const ledger: Check = {
  name: 'ledger',
  check: async ({ store }) => {
    const problems: string[] = [];
    const verdict = await verifyLedger(store, nodeDigest);
    if (!verdict.ok) problems.push(`row ${verdict.seq}: ${verdict.problem}`);
    const rows = await store.readLedger({ kinds: ['call.state'] }, 0, 100_000, { withCalls: false });
    const states = grouped(rows, ({ row }) => row.callId);
    for (const { id, timeline } of await storedCalls(store)) {
      const recorded = (states.get(id) ?? []).map(
        ({ row }) => (JSON.parse(row.body) as { state: string }).state,
      );
      const moved = timeline.map(({ state }) => state);
      if (recorded.join() !== moved.join())
        problems.push(`${id} moved ${moved.join()}, recorded is ${recorded.join()}`);
    }
    return problems;
  },
};
