import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignCalls, differencesOf, sameJson, type ComparedCall } from './run-alignment.ts';

let made = 0;
function aCall(tool: string, given: Partial<ComparedCall> = {}): ComparedCall {
  made += 1;
  return { id: `tc_${made}`, tool, args: {}, state: 'COMPLETED', code: '', ranMs: 10, ...given };
}

const calls = fc
  .array(fc.constantFrom('read', 'write', 'search', 'send'), { maxLength: 30 })
  .map((tools) => tools.map((tool) => aCall(tool)));

describe('alignCalls', () => {
  it('pairs calls by tool in order, and shows those that the other run has not', () => {
    const a = ['search', 'read', 'write'].map((tool) => aCall(tool));
    const b = ['search', 'write', 'send'].map((tool) => aCall(tool));
    expect(alignCalls(a, b).map((pair) => [pair.a?.tool, pair.b?.tool])).toEqual([
      ['search', 'search'],
      ['read', undefined],
      ['write', 'write'],
      [undefined, 'send'],
    ]);
  });

  it('has each call exactly once and in order, and pairs equal tools only', () => {
    fc.assert(
      fc.property(calls, calls, (a, b) => {
        const pairs = alignCalls(a, b);
        expect(pairs.flatMap((pair) => pair.a ?? [])).toEqual(a);
        expect(pairs.flatMap((pair) => pair.b ?? [])).toEqual(b);
        for (const pair of pairs) if (pair.a && pair.b) expect(pair.a.tool).toBe(pair.b.tool);
      }),
    );
  });

  it('pairs every call of two runs with the same tools', () => {
    fc.assert(
      fc.property(calls, (a) => {
        const b = a.map(({ tool }) => aCall(tool));
        expect(alignCalls(a, b)).toEqual(a.map((left, at) => ({ a: left, b: b[at] })));
      }),
    );
  });

  it('still has each call once if the runs have nothing in common', () => {
    const a = Array.from({ length: 1500 }, (_, at) => aCall(`a${at}`));
    const b = Array.from({ length: 1500 }, (_, at) => aCall(`b${at}`));
    const pairs = alignCalls(a, b);
    expect(pairs).toHaveLength(3000);
    expect(pairs.flatMap((pair) => pair.b ?? [])).toEqual(b);
  });
});

describe('differencesOf', () => {
  it('names what differs', () => {
    const a = aCall('read', { args: { a: 1, b: [2] } });
    const differs = (b: Partial<ComparedCall>): readonly string[] =>
      differencesOf({ a, b: aCall('read', { args: a.args, ...b }) });
    expect(differs({ args: { b: [2], a: 1 } })).toEqual([]);
    expect(differs({ args: { a: 1, b: [3] } })).toEqual(['args']);
    expect(differs({ state: 'FAILED', code: 'tool_failed' })).toEqual(['outcome']);
    expect(differs({ ranMs: 20 })).toEqual([]);
    expect(differs({ ranMs: 500 })).toEqual(['duration']);
    expect(differs({ ranMs: null })).toEqual([]);
    expect(differencesOf({ a, b: null })).toEqual(['missing']);
    expect(differencesOf({ a: null, b: a })).toEqual(['extra']);
  });

  it('compares JSON whatever the order of members is, and not otherwise', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const again: unknown = JSON.parse(JSON.stringify(one));
        expect(sameJson(one, again)).toBe(true);
        if (JSON.stringify(one) === JSON.stringify(other)) return;
        expect(sameJson([one], [one, other])).toBe(false);
      }),
    );
  });
});
