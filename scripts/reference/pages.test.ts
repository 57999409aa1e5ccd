import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { referencePages } from './pages.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

it.each(referencePages())('$path says what the code does', ({ path, text }) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(text);
});
