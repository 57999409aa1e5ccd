import { spawnSync } from 'node:child_process';

const MISSING =
  'no python3 with the package "requests" is installed, and this test does not pass without it. On Debian: apt-get install python3-requests';

/** A Python with `requests`: the one on PATH may differ from Debian's. Throws if there is none. */
export function pythonWithRequests(): string {
  const found = ['python3', '/usr/bin/python3', '/usr/local/bin/python3'].find(
    (command) => spawnSync(command, ['-c', 'import requests']).status === 0,
  );
  if (found === undefined) throw new Error(MISSING);
  return found;
}
