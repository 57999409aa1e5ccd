import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toolPage } from './tool-list.ts';

type Page = ReturnType<typeof toolPage<Named>>;

interface Named {
  readonly tenant: string | null;
  readonly name: string;
}

/** As the tool index lists them: server tools, then client tools, each by name. */
function listed(server: readonly string[], client: readonly string[]): Named[] {
  const of = (tenant: string | null, names: readonly string[]): Named[] =>
    names.toSorted().map((name) => ({ tenant, name }));
  return [
    ...of(null, server),
    ...of(
      'default',
      client.filter((name) => !server.includes(name)),
    ),
  ];
}

const names = fc.uniqueArray(fc.stringMatching(/^[a-c._]{1,4}$/), { maxLength: 30 });
/** More than there are names: a cursor that goes back would never end. */
const MAX_ROUNDS = 500;
const limit = fc.integer({ min: 1, max: 7 });

it('pages contain every tool once, in the order of the list', () => {
  fc.assert(
    fc.property(names, names, limit, (server, client, size) => {
      const tools = listed(server, client);
      const seen: Named[] = [];
      let cursor: string | null = null;
      do {
        const { page, lastKey }: Page = toolPage(tools, cursor, size);
        seen.push(...page);
        cursor = lastKey;
        // A cursor that goes back would never end.
      } while (cursor !== null && seen.length <= tools.length);
      expect(seen).toEqual(tools);
    }),
  );
});

it('pages contain no tool twice, and every tool that stays, while others come and go', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(names, names), { minLength: 1, maxLength: 8 }), limit, (states, size) => {
      const lists = states.map(([server, client]) => listed(server, client));
      const seen: Named[] = [];
      let cursor: string | null = null;
      for (let round = 0; ; round += 1) {
        const { page, lastKey }: Page = toolPage(lists[Math.min(round, lists.length - 1)]!, cursor, size);
        seen.push(...page);
        if (lastKey === null || round > MAX_ROUNDS) break;
        cursor = lastKey;
      }
      const keys = seen.map(({ tenant, name }) => `${tenant} ${name}`);
      expect(new Set(keys).size).toBe(keys.length);
      const [first = [], ...others] = lists;
      const isIn = (list: readonly Named[], { tenant, name }: Named): boolean =>
        list.some((other) => other.tenant === tenant && other.name === name);
      for (const tool of first.filter((one) => others.every((list) => isIn(list, one))))
        expect(isIn(seen, tool)).toBe(true);
    }),
  );
});
