import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { API_FOLDER, apiPages } from './api-pages.ts';
import { referencePages } from './pages.ts';

// Writes the pages of docs/reference; with --check only lists those that are out of date.
const root = fileURLToPath(new URL('../../', import.meta.url));
const isCheck = process.argv.includes('--check');
const pages = [...referencePages(), ...(await apiPages())];

if (!isCheck) rmSync(join(root, API_FOLDER), { recursive: true, force: true });
for (const { path, text } of pages) {
  const file = join(root, path);
  if (isCheck) {
    if (read(file) === text) continue;
    console.error(`${path} is out of date`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
