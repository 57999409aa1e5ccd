import { expect } from 'vitest';
import type { Finished } from './run-command.ts';

/** A refused start: one line on stderr with these words, and nothing on stdout. */
export function expectRefusal({ code, out, error }: Finished, words: RegExp | string): void {
  expect(error).toMatch(words);
  expect(error).toMatch(/^patchboard: [^\n]+\n$/);
  expect([code, out]).toEqual([2, '']);
}
