import { expect, it } from 'vitest';
import { didYouMean } from './spelling.ts';

it('ends a message with a similar name, or leaves it as it is', () => {
  expect(`no${didYouMean('ab', ['abc'])}`).toBe('no; did you mean abc?');
  expect(`no${didYouMean('zz', ['abc'])}`).toBe('no');
});
