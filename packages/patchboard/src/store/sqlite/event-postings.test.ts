import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BLOCK_ROWS, BlockPostings, EventPostings, scopesOf, type PostedRow } from './event-postings.ts';
import { MIGRATIONS } from './migrations.ts';

const AGENTS = ['ada', 'bob', null] as const;
const CLIENTS = ['phone', 'ada', null] as const;

function indexOf(blocks: number, rows: readonly PostedRow[]): EventPostings {
  const database = new DatabaseSync(':memory:');
  for (const sql of MIGRATIONS) database.exec(sql);
  const index = new EventPostings(database);
  const lists = Array.from({ length: blocks }, (_, block) => new BlockPostings(block));
  for (const row of rows) lists[Math.floor((row.seq - 1) / BLOCK_ROWS)]!.add(row);
  index.write(lists);
  index.written(lists);
  return index;
}

/** Few rows in many blocks, or many in few, so that lists end at different places. */
const sparseRows = fc
  .tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 700 }), fc.nat())
  .map(([blocks, stride, salt]) => {
    const rows: PostedRow[] = [];
    for (let seq = 1 + (salt % stride); seq <= blocks * BLOCK_ROWS && rows.length < 1500; seq += stride) {
      const pick = (seq * 7 + salt) % 9;
      const agentId = AGENTS[pick % 3]!;
      const callId = agentId === null ? null : 'tc_1';
      rows.push({
        seq,
        tenant: 'acme',
        callId,
        agentId,
        clientId: callId === null ? null : CLIENTS[pick > 6 ? 0 : 2]!,
      });
    }
    return { blocks, rows };
  });

it('finds the rows of every reader in order and once, for any distribution over blocks', () => {
  fc.assert(
    fc.property(sparseRows, fc.constantFrom(1, 30, 100, 400), ({ blocks, rows }, limit) => {
      const index = indexOf(blocks, rows);
      for (const [agentId, clientId] of [
        ['ada', null],
        ['ada', 'phone'],
        ['bob', 'phone'],
        ['eve', null],
      ] as const) {
        const scopes = scopesOf({ tenant: 'acme', askedOrRunBy: { agentId, clientId } });
        const found: number[] = [];
        for (let after = 0; after < blocks * BLOCK_ROWS;) {
          const { seqs, reached } = index.find('acme', scopes, after, limit);
          expect(seqs.length).toBeLessThanOrEqual(limit);
          expect(reached).toBeGreaterThan(after);
          found.push(...seqs);
          after = reached;
        }
        const expected = rows.filter(
          (row) =>
            row.callId === null ||
            row.agentId === agentId ||
            (clientId !== null && row.clientId === clientId),
        );
        expect(found).toEqual(expected.map(({ seq }) => seq));
      }
    }),
    { numRuns: 25 },
  );
});

it('isolates tenants', () => {
  const row = { seq: 5, callId: 'tc_1', agentId: 'ada', clientId: null };
  const index = indexOf(1, [
    { ...row, tenant: 'acme' },
    { ...row, seq: 6, tenant: 'other' },
  ]);
  const found = (tenant: string): readonly number[] => index.find(tenant, scopesOf({ tenant }), 0, 10).seqs;
  expect([found('acme'), found('other'), found('third')]).toEqual([[5], [6], []]);
});
