import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxUser } from './enclosure.ts';

/** Writes minimal passwd and group files, so that programs can look up their own user without seeing the host's accounts. */
export class Accounts {
  readonly #folder: string;
  readonly #home: string;
  readonly #written: Map<number, [from: string, to: string][]> = new Map();

  constructor(folder: string, home: string) {
    this.#folder = folder;
    this.#home = home;
  }

  /** Returns the files for a user, with their mount points. */
  of(user: SandboxUser | null): readonly [from: string, to: string][] {
    const uid = user?.uid ?? process.getuid?.() ?? 0;
    const gid = user?.gid ?? process.getgid?.() ?? 0;
    const written = this.#written.get(uid);
    if (written !== undefined) return written;
    mkdirSync(this.#folder, { recursive: true });
    const passwd = join(this.#folder, `passwd-${uid}`);
    const group = join(this.#folder, `group-${uid}`);
    const root = uid === 0 ? '' : 'root:x:0:0::/:/usr/sbin/nologin\n';
    writeFileSync(passwd, `${root}sandbox:x:${uid}:${gid}::${this.#home}:/bin/bash\n`, { mode: 0o644 });
    writeFileSync(group, `${gid === 0 ? '' : 'root:x:0:\n'}sandbox:x:${gid}:\n`, { mode: 0o644 });
    const files: [string, string][] = [
      [passwd, '/etc/passwd'],
      [group, '/etc/group'],
    ];
    this.#written.set(uid, files);
    return files;
  }
}
