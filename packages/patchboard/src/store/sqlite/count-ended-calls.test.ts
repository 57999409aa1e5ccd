import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Call } from '../../core/call/call.ts';
import { aCall, completed, digest, failed, insertAll } from '../samples.contract.ts';
import { sqliteStore } from './sqlite-store.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-counts-'));
  file = join(folder, 'store.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The calls are written by one store and counted by the next. */
async function counted(calls: readonly Call[], tenants: readonly string[]): Promise<unknown[]> {
  const first = await sqliteStore({ file, digest });
  for (let from = 0; from < calls.length; from += 500) await insertAll(first, calls.slice(from, from + 500));
  await first.purgeCalls(Number.MAX_SAFE_INTEGER, 3);
  const before = await Promise.all(tenants.map((tenant) => first.countEnded(tenant)));
  const all = await first.countByState();
  await first.close();
  const again = await sqliteStore({ file, digest });
  const after = await Promise.all(tenants.map((tenant) => again.countEnded(tenant)));
  expect(after).toEqual(before);
  expect(await again.countByState()).toEqual(all);
  await again.close();
  return after;
}

describe('the ended calls of each tenant', () => {
  it('are counted once at the start, in a store of one tenant', async () => {
    const calls = [1, 2, 3, 4, 5].map((n) => completed(aCall(n)));
    const others = [failed(aCall(6)), failed(aCall(7)), aCall(8)];
    expect(await counted([...calls, ...others], ['acme'])).toEqual([{ COMPLETED: 2, FAILED: 2 }]);
  });

  // Calls are indexed by run in batches of a thousand, so that some are not indexed yet.
  it.each([10, 2100])(
    'are counted once at the start, in a store of several tenants with %i calls',
    async (size) => {
      const calls = Array.from({ length: size }, (_, index) => {
        const call = aCall(index + 1, {
          tenant: index % 3 === 0 ? 'other' : 'acme',
          runId: `run_${index % 3}`,
        });
        return index % 10 === 9 ? failed(call) : completed(call);
      });
      // The first three are purged; one of them belongs to the other tenant.
      const failures = (tenant: string): number =>
        calls.filter((call) => call.tenant === tenant && call.state.name === 'FAILED').length;
      const total = (tenant: string): number => calls.filter((call) => call.tenant === tenant).length;
      const expected = ['other', 'acme'].map((tenant) => ({
        COMPLETED: total(tenant) - failures(tenant) - (tenant === 'other' ? 1 : 2),
        FAILED: failures(tenant),
      }));
      const seen = (await counted(calls, ['other', 'acme'])) as Record<string, number>[];
      expect(seen.map((one) => ({ COMPLETED: one['COMPLETED'] ?? 0, FAILED: one['FAILED'] ?? 0 }))).toEqual(
        expected,
      );
    },
  );

  it('are none in a new store', async () => {
    expect(await counted([], ['acme'])).toEqual([{}]);
  });
});
