import type { Call } from '../../../src/core/call/call.ts';
import { callSeenIn, grouped, storedCalls, type Check } from './check.ts';

/** One idempotency key is one call, of one body; and no request without a key becomes two. */
export const idempotency: Check = {
  name: 'idempotency',
  check: async ({ history, world, store }) => {
    const problems: string[] = [];
    const calls = await storedCalls(store);
    // Each request has a number of its own in its arguments; those of an approved call may have been edited.
    const byNumber = grouped(calls, (call) => Math.abs(requestNumber(call)));
    for (const [n, same] of byNumber)
      if (same.length > 1) problems.push(`request ${n} became ${same.map(({ id }) => id).join(' and ')}`);
    const keyOf = new Map<string, unknown>();
    const numberOf = new Map<string, unknown>();
    for (const { who, data } of history.of('submit')) {
      keyOf.set(who, data['key']);
      numberOf.set(who, (data['args'] as { n: unknown }).n);
    }
    const callOfKey = new Map<unknown, string>();
    for (const entry of history.of('receipt')) {
      const key = keyOf.get(entry.who) ?? null;
      const id = callSeenIn(entry)?.id;
      if (key === null || id === undefined) continue;
      const call = calls.find((candidate) => candidate.id === id);
      if (call !== undefined && requestNumber(call) !== numberOf.get(entry.who))
        problems.push(`${entry.who} got the receipt of ${id}, which has another body`);
      const before = callOfKey.get(key) ?? id;
      callOfKey.set(key, before);
      if (before !== id) problems.push(`${JSON.stringify(key)} was acknowledged as ${before} and as ${id}`);
    }
    if (world.plan.steps.length === 0 && calls.length > 0) problems.push('calls without requests');
    return problems;
  },
};

function requestNumber({ argsJson, approval }: Call): number {
  return (JSON.parse(approval?.originalArgsJson ?? argsJson) as { n: number }).n;
}
