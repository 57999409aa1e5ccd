import { CALL_QUERY_KEYS, parseCallQuery, QUERY_LIMITS } from '@patchboard/wire';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/server-process.ts';
import { blocksOf, codeSpansOf, tablesOf } from './markdown.ts';

const GUIDE = 'docs/guides/search.md';
const text = readFileSync(join(ROOT, GUIDE), 'utf8');

it('docs/guides/search.md has a row for every key of a query, and queries that parse', () => {
  const [[, ...rows] = []] = tablesOf(text);
  const names = rows.map(([first = '']) => codeSpansOf(first)[0] ?? '');
  expect(names.toSorted()).toEqual(CALL_QUERY_KEYS.map(({ name }) => name).toSorted());
  const queries = blocksOf(text)
    .filter(({ language }) => language === 'text')
    .flatMap(({ code }) => code.split('\n'));
  expect(queries.length).toBeGreaterThan(5);
  for (const query of queries)
    expect(parseCallQuery(query, Date.now(), 'calls'), query).toMatchObject({ ok: true });
  for (const limit of Object.values(QUERY_LIMITS)) expect(text).toContain(limit.toLocaleString('en'));
});
