import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aCall } from '../../../test/support/a-call.ts';
import type { Call, OpenState } from './call.ts';
import { OpenCalls } from './open-calls.ts';

type OpenCall = Call & { readonly state: OpenState };
type Name = OpenState['name'];

const NAMES: readonly Name[] = ['PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING', 'INPUT_REQUIRED'];
const TENANTS = ['a', 'b', 'c'];

function open(tenant: string, name: Name, length: number): OpenCall {
  const state = { name, deadlineAt: 0, attempt: 1, cause: null } as OpenState;
  return { ...aCall({ tenant, argsJson: 'x'.repeat(length) }), state };
}

const step = fc.record({
  do: fc.constantFrom('add' as const, 'move' as const, 'remove' as const),
  which: fc.nat(),
  tenant: fc.constantFrom(...TENANTS),
  name: fc.constantFrom(...NAMES),
  length: fc.nat({ max: 50 }),
});

describe('OpenCalls', () => {
  it('counts what a look through all of them would', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const counts = new OpenCalls();
        const calls: OpenCall[] = [];
        for (const { do: what, which, tenant, name, length } of steps) {
          const at = calls.length === 0 ? -1 : which % calls.length;
          const standing = calls[at];
          if (what === 'add' || standing === undefined) {
            const call = open(tenant, name, length);
            counts.add(call);
            calls.push(call);
          } else if (what === 'move') {
            const next = { ...open(standing.tenant, name, length), id: standing.id };
            counts.move(standing, next);
            calls[at] = next;
          } else {
            counts.remove(standing);
            calls.splice(at, 1);
          }
        }
        expect(counts.all).toEqual(loadOf(calls));
        for (const tenant of TENANTS)
          expect(counts.of(tenant)).toEqual(loadOf(calls.filter((call) => call.tenant === tenant)));
      }),
    );
  });

  it('forgets tenants that have nothing open, and not the others', () => {
    const counts = new OpenCalls();
    const kept = open('kept', 'PENDING', 5);
    counts.add(kept);
    for (let index = 0; index < 5000; index += 1) {
      const call = open(`tenant-${index}`, 'PENDING', 1);
      counts.add(call);
      counts.remove(call);
    }
    expect(counts.of('kept')).toEqual(loadOf([kept]));
    expect(counts.all).toEqual(loadOf([kept]));
  });
});

function loadOf(calls: readonly OpenCall[]): unknown {
  const counted = NAMES.map((name) => [name, calls.filter(({ state }) => state.name === name).length]);
  return {
    calls: calls.length,
    characters: calls.reduce((sum, { argsJson }) => sum + argsJson.length, 0),
    byState: Object.fromEntries(counted) as unknown,
  };
}
