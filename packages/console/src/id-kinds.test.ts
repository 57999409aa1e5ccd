import { describe, expect, it } from 'vitest';
import { kindsOfId } from './id-kinds.ts';

describe('kindsOfId', () => {
  it.each([
    ['tc_01J8X', ['call']],
    ['run_01J8X', ['run']],
    ['4bf92f3577b34da6a3ce929d0e0e4736', ['trace', 'run']],
    ['6f1c2a34-9b1e-4c1d-8a52-3f0d2f1f9c11', ['trace', 'run']],
    ['toy.echo', []],
    ['tc_ x', []],
    ['', []],
  ])('%s', (text, kinds) => {
    expect(kindsOfId(text)).toEqual(kinds);
  });
});
