import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { treeRows } from './call-tree.ts';
import { aTracedCall } from './traced-call.samples.ts';

const ids = fc.constantFrom<string[]>('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
const forest = fc
  .uniqueArray(fc.record({ id: ids, parent: fc.option(ids), at: fc.nat({ max: 9 }) }), {
    selector: ({ id }) => id,
  })
  .map((given) => given.map(({ id, parent, at }) => aTracedCall(id, { parent, at })));

describe('treeRows', () => {
  it('puts calls below the call that they were made for, in order of their start', () => {
    const calls = [
      aTracedCall('late', { at: 9 }),
      aTracedCall('child 2', { at: 5, parent: 'first' }),
      aTracedCall('child 1', { at: 4, parent: 'first' }),
      aTracedCall('first', { at: 1 }),
      aTracedCall('grandchild', { at: 6, parent: 'child 1' }),
      aTracedCall('of another run', { at: 2, parent: 'not loaded' }),
    ];
    const shown = treeRows(calls, new Set()).map(({ call, depth, position, siblings }) => [
      `${'  '.repeat(depth)}${call.id}`,
      `${position}/${siblings}`,
    ]);
    expect(shown).toEqual([
      ['first', '1/3'],
      ['  child 1', '1/2'],
      ['    grandchild', '1/1'],
      ['  child 2', '2/2'],
      ['of another run', '2/3'],
      ['late', '3/3'],
    ]);
    const folded = treeRows(calls, new Set(['first']));
    expect(folded.map(({ call }) => call.id)).toEqual(['first', 'of another run', 'late']);
    expect(folded[0]).toMatchObject({ children: 2, isCollapsed: true });
  });

  it('has each call exactly once, whatever the parents are', () => {
    fc.assert(
      fc.property(forest, (calls) => {
        const shown = treeRows(calls, new Set()).map(({ call }) => call.id);
        expect([...shown].sort()).toEqual(calls.map(({ id }) => id).sort());
      }),
    );
  });

  it('collapsed leaves out exactly what is below', () => {
    fc.assert(
      fc.property(forest, fc.uniqueArray(ids), (calls, collapsed) => {
        const all = treeRows(calls, new Set());
        let hiddenBelow = Infinity;
        const expected = all.filter(({ call, depth }) => {
          if (depth > hiddenBelow) return false;
          hiddenBelow = collapsed.includes(call.id) ? depth : Infinity;
          return true;
        });
        const ofRows = (rows: readonly { call: { id: string } }[]): string[] =>
          rows.map((row) => row.call.id);
        expect(ofRows(treeRows(calls, new Set(collapsed)))).toEqual(ofRows(expected));
      }),
    );
  });

  it('takes ten thousand calls in a chain', () => {
    const calls = Array.from({ length: 10_000 }, (_, at) =>
      aTracedCall(String(at), { at, parent: at === 0 ? null : String(at - 1) }),
    );
    expect(treeRows(calls, new Set()).at(-1)).toMatchObject({ depth: 9999 });
  });
});
