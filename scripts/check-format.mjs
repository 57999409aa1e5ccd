// Checks the format of all files. prettier defines the format and takes a minute of CPU time for the whole repository; oxfmt writes
// nearly every file the same way and takes a second. prettier checks the files that oxfmt would write in another way.
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const files = filesToCheck();
if (files.length > 0) {
  const { status } = run('prettier', ['--check', '--log-level', 'warn', ...files], 'inherit');
  process.exitCode = status ?? 1;
}

/** All files if oxfmt does not run here: it is a native program, and not every platform has it. */
function filesToCheck() {
  const { status, stdout } = run('oxfmt', ['--list-different', '.'], 'pipe');
  if (status === 0) return [];
  const listed = (stdout ?? '').split('\n').filter((line) => line !== '');
  return status === 1 && listed.length > 0 ? listed : ['.'];
}

function run(command, args, output) {
  return spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    stdio: ['ignore', output, output],
  });
}
