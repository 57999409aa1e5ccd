import { createI18n } from 'vue-i18n';
import { describe, expect, it } from 'vitest';
import { withCounts } from './counts.ts';

describe('withCounts', () => {
  const i18n = createI18n({
    legacy: false,
    locale: 'en',
    messages: {
      en: {
        rows: '1 row. | {count} rows.',
        of: '{count} of {total} in {place}, row {seq}, version {version}',
      },
    },
  });
  const words = (key: string, ...given: unknown[]): string =>
    (i18n.global.t as (...all: unknown[]) => string)(key, ...withCounts(given, 'en'));

  it('writes the numbers of a text with separators, and keeps the plural', () => {
    expect(words('rows', 30_001)).toBe('30,001 rows.');
    expect(words('rows', 1)).toBe('1 row.');
    expect(words('rows', { count: 1234 }, 1234)).toBe('1,234 rows.');
    expect(words('of', { count: 1200, total: 1_000_000, place: '8080', seq: 4321, version: 1234 })).toBe(
      '1,200 of 1,000,000 in 8080, row 4321, version 1234',
    );
  });
});
