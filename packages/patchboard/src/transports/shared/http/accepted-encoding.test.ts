import { expect, it } from 'vitest';
import { acceptsEncoding } from './accepted-encoding.ts';

it.each([
  ['gzip, deflate, br', true],
  ['GZIP', true],
  ['br;q=1.0, gzip;q=0.8, *;q=0.1', true],
  ['gzip ; q=0.001', true],
  ['gzip;q=0', false],
  ['identity, gzip; q=0.000', false],
  ['gzip-like', false],
  ['', false],
  [undefined, false],
])('%j takes gzip: %s', (header, isTaken) => {
  expect(acceptsEncoding(header, 'gzip')).toBe(isTaken);
});
