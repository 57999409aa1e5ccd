import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { referencePages } from './pages.ts';

// Writes the pages of docs/reference; with --check only says which are out of date.
const root = fileURLToPath(new URL('../../', import.meta.url));
const isCheck = process.argv.includes('--check');

for (const { path, text } of referencePages()) {
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
