/**
 * Opens all but three descriptors, searches, and prints the result: enough to open a folder, too few for a
 * process.
 */
import { closeSync, openSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { grep } from '../../../src/sandbox/file-server/search.ts';

const LEFT = 3;
const [root = '', ripgrep = ''] = process.argv.slice(2);
const query = {
  pattern: 'a',
  path: '.',
  literal: true,
  ignoreCase: false,
  wholeWord: false,
  multiline: false,
};

const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {
  for (const descriptor of taken.splice(0, LEFT)) closeSync(descriptor);
}
const search = async (): Promise<string> => {
  const found = await grep(
    { root, ripgrep, signal: new AbortController().signal },
    { ...query, glob: null, context: 0, limit: 10 },
  );
  return `${found.matches.length} found`;
};
const first = await search().catch((error: NodeJS.ErrnoException) => error.code);
await turn();
for (const descriptor of taken.splice(0)) closeSync(descriptor);
process.stdout.write(`${first}, then ${await search()}\n`);
