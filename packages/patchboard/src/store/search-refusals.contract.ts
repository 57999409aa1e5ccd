import { describe, expect, it } from 'vitest';
import type { CallSearch, IndexedRefusal, RefusalCriteria } from '../core/search/call-search.ts';
import { insertAll } from './samples.contract.ts';
import type { SearchSubject } from './search.contract.ts';
import { FIRST_HOUR, endedCalls, refusedRows } from './search-samples.contract.ts';

const MINUTE_MS = 60_000;

const CASES: readonly [Omit<RefusalCriteria, 'tenant'>, (refusal: IndexedRefusal) => boolean][] = [
  [{}, () => true],
  [{ agentId: 'intruder' }, ({ agentId }) => agentId === 'intruder'],
  [{ tools: { any: ['fs.*'], none: ['fs.read'] } }, ({ toolName }) => toolName === 'fs.delete'],
  [{ agents: { any: [], none: ['in*'] } }, ({ agentId }) => agentId === 'planner'],
  [{ codes: { any: ['rate_limited'], none: [] } }, ({ code }) => code === 'rate_limited'],
  [{ traceId: 'b'.repeat(32) }, ({ traceId }) => traceId !== null],
  [
    { since: FIRST_HOUR + 5 * MINUTE_MS, until: FIRST_HOUR + 20 * MINUTE_MS },
    ({ at }) => at >= FIRST_HOUR + 5 * MINUTE_MS && at < FIRST_HOUR + 20 * MINUTE_MS,
  ],
];

async function pagesOf(search: CallSearch, criteria: RefusalCriteria): Promise<IndexedRefusal[]> {
  const found: IndexedRefusal[] = [];
  for (;;) {
    const page = await search.refusals(criteria, found.at(-1)?.seq ?? null, 4);
    found.push(...page);
    if (page.length < 4) return found;
  }
}

export function describeRefusals(subject: SearchSubject): void {
  describe('refusals', () => {
    it('returns the refused requests that match, newest first, as the ledger has them', async () => {
      const { store, search } = subject;
      const drafts = refusedRows(30);
      await insertAll(store, endedCalls(5));
      await store.append(drafts);
      await subject.index();
      const first = (await store.ledgerHead()).seq - drafts.length + 1;
      const all = drafts.map((draft, index): IndexedRefusal => {
        const body = JSON.parse(draft.body);
        return {
          seq: first + index,
          at: draft.at,
          tenant: draft.tenant,
          agentId: body.agent_id,
          toolName: body.tool_name,
          code: body.code,
          message: `no ${index}`,
          traceId: draft.traceId,
          unrecorded: body.unrecorded ?? 0,
        };
      });
      for (const [criteria, isMeant] of CASES) {
        const meant = all.filter((refusal) => refusal.tenant === 'acme' && isMeant(refusal)).reverse();
        expect(await pagesOf(search, { tenant: 'acme', ...criteria }), JSON.stringify(criteria)).toEqual(
          meant,
        );
      }
      // A refused request is no call.
      const calls = await search.find({ tenant: 'acme' }, { by: 'created', isAscending: true }, null, 100);
      expect(calls).toHaveLength(4);
    });
  });
}
