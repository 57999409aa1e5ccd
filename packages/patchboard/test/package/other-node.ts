import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface OtherNode {
  readonly path: string;
  readonly version: string;
  readonly args: readonly string[];
}

const PRETENDED = '20.0.0';
const PRETENCE = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${PRETENDED}' } })`;

/** One of the system that is too old; where there is none, our own that takes itself for one. */
export function olderNode(): OtherNode {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, 'node');
    if (folder.includes('node_modules') || !existsSync(path)) continue;
    const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).trim().slice(1);
    if (Number.parseInt(version, 10) < 24) return { path, version, args: [] };
  }
  const args = ['--import', `data:text/javascript,${encodeURIComponent(PRETENCE)}`];
  return { path: process.execPath, version: PRETENDED, args };
}
