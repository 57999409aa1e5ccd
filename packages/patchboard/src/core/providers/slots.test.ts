import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Slots, type SlotKey, type SlotWait } from './slots.ts';

const KEYS: readonly SlotKey[] = [
  { name: 'a', limit: 1 },
  { name: 'b', limit: 2 },
  { name: 'c', limit: 3 },
];

describe('Slots', () => {
  it('never exceeds a limit and never loses a waiter', () => {
    const operation = fc.oneof(
      fc.record({ kind: fc.constant('take' as const), keys: fc.subarray([0, 1, 2], { minLength: 1 }) }),
      fc.record({ kind: fc.constant('give' as const), which: fc.nat() }),
      fc.record({ kind: fc.constant('leave' as const), which: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
        const slots = new Slots();
        const holding: SlotKey[][] = [];
        const waiting = new Map<SlotKey[], SlotWait>();
        const take = (keys: SlotKey[]): void => {
          if (slots.tryTake(keys)) {
            holding.push(keys);
            return;
          }
          waiting.set(
            keys,
            slots.wait(keys, () => {
              waiting.delete(keys);
              holding.push(keys);
            }),
          );
        };
        for (const op of operations) {
          if (op.kind === 'take') take(op.keys.map((index) => KEYS[index]!));
          if (op.kind === 'give' && holding.length > 0)
            slots.release(holding.splice(op.which % holding.length, 1)[0]!);
          if (op.kind === 'leave' && waiting.size > 0) {
            const [keys, wait] = [...waiting][op.which % waiting.size]!;
            wait.leave();
            waiting.delete(keys);
          }
          for (const key of KEYS) {
            const held = holding.filter((keys) => keys.includes(key)).length;
            expect(held).toBeLessThanOrEqual(key.limit);
            expect(slots.held(key.name)).toBe(held);
            const inLine = [...waiting.keys()].filter((keys) => keys.includes(key)).length;
            expect(slots.waiting(key.name)).toBe(inLine);
          }
        }
        while (holding.length > 0) slots.release(holding.shift()!);
        expect(waiting.size).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it('serves a line in order', () => {
    const slots = new Slots();
    const key = [{ name: 'run', limit: 1 }];
    const served: number[] = [];
    expect(slots.tryTake(key)).toBe(true);
    for (const number of [1, 2, 3]) {
      expect(slots.tryTake(key)).toBe(false);
      slots.wait(key, () => served.push(number));
    }
    for (let count = 0; count < 3; count += 1) slots.release(key);
    expect(served).toEqual([1, 2, 3]);
  });

  it('gives a slot of the tenant to the waiter, not to the run that releases it', () => {
    const slots = new Slots();
    const keysOf = (run: string): SlotKey[] => [
      { name: run, limit: 1 },
      { name: 'tenant', limit: 1 },
    ];
    const order: string[] = [];
    const take = (run: string): void => {
      if (slots.tryTake(keysOf(run))) order.push(run);
      else slots.wait(keysOf(run), () => order.push(run));
    };
    for (const run of ['busy', 'busy', 'newcomer', 'busy']) take(run);
    slots.release(keysOf('busy'));
    expect(order).toEqual(['busy', 'newcomer']);
  });

  it('ends when a waiter needs more room than was given back', () => {
    const slots = new Slots();
    const wide: SlotKey = { name: 'x', limit: 3 };
    const narrow: SlotKey = { name: 'x', limit: 1 };
    for (let count = 0; count < 3; count += 1) slots.tryTake([wide]);
    for (let count = 0; count < 2; count += 1) slots.wait([narrow], () => {});
    slots.release([wide]);
    expect(slots.waiting('x')).toBe(2);
  });

  it('calls any number of waiters that release their slots at once', () => {
    const slots = new Slots();
    const key = [{ name: 'server', limit: 1 }];
    expect(slots.tryTake(key)).toBe(true);
    let served = 0;
    for (let count = 0; count < 10_000; count += 1)
      slots.wait(key, () => {
        served += 1;
        slots.release(key);
      });
    slots.release(key);
    expect([served, slots.held('server'), slots.waiting('server')]).toEqual([10_000, 0, 0]);
  });

  it('does not call a waiter that leaves while another one is called, and gives its slot to the next', () => {
    const slots = new Slots();
    const key = [{ name: 'server', limit: 2 }];
    for (let count = 0; count < 2; count += 1) expect(slots.tryTake(key)).toBe(true);
    const served: string[] = [];
    slots.wait(key, () => {
      served.push('first');
      slots.release(key); // that of the other holder
      second.leave();
      second.leave();
    });
    const second = slots.wait(key, () => served.push('second'));
    slots.wait(key, () => served.push('third'));
    slots.release(key);
    expect([served, slots.held('server'), slots.waiting('server')]).toEqual([['first', 'third'], 2, 0]);
  });
});
