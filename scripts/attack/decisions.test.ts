import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../chaos/seeded-random.ts';
import { Tally } from './battery.ts';
import { decisionRaces } from './decisions.ts';
import type { Response, Target } from './target.ts';

/** A server that takes `winners` of the decisions on each call. */
function targetWith(winners: number): Target {
  const taken = new Map<string, number>();
  let calls = 0;
  const reply = (status: number, json: unknown): Response => ({
    status,
    text: JSON.stringify(json),
    type: 'application/json',
  });
  const send: Target['send'] = (path) => {
    if (path.endsWith('/invoke')) return Promise.resolve(reply(202, { tool_call_id: `tc_${(calls += 1)}` }));
    if (path === '/v1/approvals')
      return Promise.resolve(reply(200, { approvals: [{ tool_call_id: `tc_${calls}`, digest: 'd' }] }));
    const id = path.split('/')[3] ?? '';
    taken.set(id, (taken.get(id) ?? 0) + 1);
    return Promise.resolve(
      (taken.get(id) ?? 0) <= winners ? reply(200, {}) : reply(409, { code: 'conflict' }),
    );
  };
  return { send, operator: {}, credentials: {} } as unknown as Target;
}

async function violationsWith(winners: number): Promise<readonly string[]> {
  const tally = new Tally();
  await decisionRaces(targetWith(winners), tally, { isShort: true, random: new SeededRandom(1) });
  return tally.violations;
}

describe('the races of decisions', () => {
  it('hold where one decision is taken', async () => {
    expect(await violationsWith(1)).toEqual([]);
  });

  it.each([0, 2])('are broken where %i are', async (winners) => {
    const violations = await violationsWith(winners);
    expect(violations).toContain(`race 0: ${winners} decisions were taken`);
    expect(violations).toHaveLength(10);
  });
});
