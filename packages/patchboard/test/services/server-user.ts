import { spawnSync } from 'node:child_process';
import { chownSync } from 'node:fs';

/** PostgreSQL and PgBouncer refuse to run as root: then they run as the user of PostgreSQL's package. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

export function serverUser(): ServerUser {
  if (process.getuid?.() !== 0) return {};
  return { uid: idOf('-u'), gid: idOf('-g') };
}

export function giveTo({ uid, gid }: ServerUser, ...paths: readonly string[]): void {
  if (uid === undefined || gid === undefined) return;
  for (const path of paths) chownSync(path, uid, gid);
}

function idOf(flag: '-u' | '-g'): number {
  for (const user of ['postgres', 'nobody']) {
    const result = spawnSync('id', [flag, user], { encoding: 'utf8' });
    if (result.status === 0) return Number(result.stdout);
  }
  throw new Error('there is no user to run the server as: neither postgres nor nobody exists');
}
