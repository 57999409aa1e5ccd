import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ClientToolIndex } from './client-tool-index.ts';
import type { ClientTool } from './registered-tool.ts';

type Lent = Pick<ClientTool, 'name' | 'wireName' | 'earlierWireName' | 'bytes' | 'clientId'>;

function aTool(name: string, clientId: string, bytes: number): ClientTool {
  const earlierWireName = `earlier_${name}`;
  const lent: Lent = { name, wireName: `wire_${name}`, earlierWireName, bytes, clientId };
  return lent as ClientTool;
}

const NAMES = ['a', 'b', 'c', 'd'];
const CLIENTS = ['phone', 'watch', 'car'];
const step = fc.oneof(
  fc.record({
    do: fc.constant('add' as const),
    name: fc.constantFrom(...NAMES),
    clientId: fc.constantFrom(...CLIENTS),
    bytes: fc.integer({ min: 1, max: 99 }),
  }),
  fc.record({ do: fc.constant('remove' as const), name: fc.constantFrom(...NAMES) }),
);

it('finds by name, by wire name and by client the same tools as a plain list', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const tools = new ClientToolIndex();
      const plain = new Map<string, ClientTool>();
      for (const taken of steps) {
        if (taken.do === 'remove') {
          expect(tools.remove(taken.name)).toBe(plain.delete(taken.name));
        } else {
          const tool = aTool(taken.name, taken.clientId, taken.bytes);
          tools.add(tool);
          plain.set(taken.name, tool);
        }
        const all = [...plain.values()];
        expect(tools.size).toBe(all.length);
        expect(tools.bytes).toBe(all.reduce((sum, { bytes }) => sum + bytes, 0));
        expect(new Set(tools.all())).toEqual(new Set(all));
        for (const name of NAMES) {
          expect(tools.get(name)).toBe(plain.get(name));
          for (const prefix of ['wire', 'earlier'])
            expect(tools.byWireName(`${prefix}_${name}`)).toBe(plain.get(name));
        }
        for (const clientId of CLIENTS) {
          const mine = all.filter((tool) => tool.clientId === clientId);
          expect(new Set(tools.of(clientId).values())).toEqual(new Set(mine));
        }
      }
    }),
  );
});
