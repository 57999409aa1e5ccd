import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxUser } from './enclosure.ts';

/** Programs look up who they are. They find themselves; the real list of accounts is nobody's business. */
export class Accounts {
  readonly #folder: string;
  readonly #home: string;
  readonly #written: Map<number, [from: string, to: string][]> = new Map();

  constructor(folder: string, home: string) {
    this.#folder = folder;
    this.#home = home;
  }

  /** Files, and where they are to be shown. */
  of(user: SandboxUser | null): readonly [from: string, to: string][] {
    const uid = user?.uid ?? process.getuid?.() ?? 0;
    const gid = user?.gid ?? process.getgid?.() ?? 0;
    const standing = this.#written.get(uid);
    if (standing !== undefined) return standing;
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
