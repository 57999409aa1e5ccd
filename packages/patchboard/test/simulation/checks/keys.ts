import type { Entry } from '../history.ts';
import { noticedWithin } from './changes.ts';
import { grouped, type Check } from './check.ts';

/**
 * A key is accepted by every node from the response that returns it until its revocation is requested, and by none once the
 * revocation has been acknowledged and the other nodes had the time to notice it.
 */
export const keys: Check = {
  name: 'keys',
  check: async ({ world, history }) => {
    const entries = history.entries.filter(({ data }) => 'key' in data);
    const problems: string[] = [];
    for (const [key, own] of grouped(entries, ({ data }) => String(data['key']))) {
      const firstAt = (what: string): number => own.find((entry) => entry.what === what)?.at ?? Infinity;
      const revokedAt = firstAt('key revoked');
      for (const [, step] of grouped(own, ({ who }) => who)) {
        const [sent, response] = step;
        if (sent?.what !== 'use key' || response === undefined) continue;
        if (response.what === 'key refused' && response.at < firstAt('revoke key'))
          problems.push(`${describe(sent)} was refused, and ${key} was not revoked`);
        const change = { requestedAt: firstAt('revoke key'), at: revokedAt };
        const isLate = sent.at > revokedAt && sent.at - revokedAt >= noticedWithin(world, change, sent.at);
        if (response.what === 'key accepted' && isLate)
          problems.push(
            `${describe(sent)} was accepted ${Math.round(sent.at - revokedAt)} ms after ${key} was revoked`,
          );
      }
    }
    return problems;
  },
};

function describe({ who, data }: Entry): string {
  return `${who} at ${String(data['to'])}`;
}
