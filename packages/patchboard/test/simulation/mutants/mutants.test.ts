import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { mutated, sourceOf, type Mutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';
import { runMutants, type MutantResult } from './run-mutants.ts';

/** Found by one of the first seeds. */
const QUICK = [
  'returns a receipt before its commit',
  'ignores an idempotency key',
  'leaves a move out of the ledger',
  'lets a node write that was taken over',
  'sweeps by its own wall clock',
];

/** A busy machine is no failure: this only ends what hangs. */
const LONG_MS = 300_000;

describe('mutants', () => {
  it('replace a text that occurs once in the source, so that none of them is without effect', async () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
    for (const mutant of MUTANTS) {
      const source = await readFile(sourceOf(mutant), 'utf8');
      expect(mutated(mutant, source), mutant.name).not.toBe(source);
    }
  });

  it('are refused if their text is missing or ambiguous', () => {
    const mutant: Mutant = { name: 'a fault', file: 'a.ts', find: 'one', replace: 'two', seeds: 1 };
    expect(mutated(mutant, 'one line')).toBe('two line');
    expect(() => mutated(mutant, 'no line')).toThrow('"a fault" replaces must occur once in a.ts');
    expect(() => mutated(mutant, 'one and one')).toThrow('must occur once');
  });

  it('are found by the simulator, and the product without them is not', { timeout: LONG_MS }, async () => {
    const unchanged: Mutant = {
      name: 'does nothing wrong',
      file: 'core/call/lifecycle.ts',
      find: 'const PERSIST_RETRY_MS = 500;',
      replace: 'const PERSIST_RETRY_MS = 500; // the same',
      seeds: 3,
    };
    const quick = MUTANTS.filter(({ name }) => QUICK.includes(name));
    const results: MutantResult[] = [];
    await runMutants([...quick, unchanged], 2, (result) => results.push(result));
    // Which check finds one first changes with every write that the product makes.
    const missed = results.flatMap(({ mutant, found }) => (found === null ? [mutant.name] : []));
    expect(results).toHaveLength(QUICK.length + 1);
    expect(missed).toEqual([unchanged.name]);
  });
});
