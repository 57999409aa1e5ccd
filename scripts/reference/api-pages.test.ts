import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { API_FOLDER, apiPages } from './api-pages.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

it(`${API_FOLDER} says what the types say, and no more`, { timeout: 300_000 }, async () => {
  const pages = await apiPages();
  const kept = readdirSync(join(root, API_FOLDER), { recursive: true, encoding: 'utf8' });
  const files = kept.filter((name) => name.endsWith('.md')).map((name) => `${API_FOLDER}/${name}`);
  const help = 'npm run reference writes it again';
  expect(files.toSorted(), help).toEqual(pages.map(({ path }) => path).toSorted());
  for (const { path, text } of pages) expect(readFileSync(join(root, path), 'utf8'), help).toBe(text);
});
