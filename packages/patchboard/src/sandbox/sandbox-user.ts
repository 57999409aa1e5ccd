import { reason, reasonText, type Reason } from '@patchboard/wire';
import { chownSync, mkdirSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { SandboxUser } from './enclosure.ts';

/** Not in use on common systems: outside the ranges for accounts, containers and services. */
const OWN_USER: SandboxUser = { uid: 64_823, gid: 64_823 };

/** Thrown for a folder that the operator must change before commands can work in it. */
export class UnusableFolder extends Error {
  readonly reason: Reason;

  constructor(why: Reason) {
    super(reasonText(why));
    this.reason = why;
  }
}

/** Creates a workspace owned by the user that commands run as. Does not change an existing folder. */
export function makeWorkspace(root: string): void {
  if (mkdirSync(root, { recursive: true, mode: 0o700 }) === undefined) return;
  if (process.getuid?.() === 0) chownSync(root, OWN_USER.uid, OWN_USER.gid);
}

/**
 * Returns the user that commands in this folder run as; null for the server's own user. A server that runs as root runs
 * them as the owner of the workspace, never as root.
 */
export function userOf(root: string): SandboxUser | null {
  if (process.getuid?.() !== 0) return null;
  const { uid, gid } = statSync(root);
  if (uid !== 0) return { uid, gid };
  throw new UnusableFolder(reason('folder_of_root', { path: root }));
}

/** Returns name and uid of the server's user. */
export function serverUser(): string {
  try {
    const { username, uid } = userInfo();
    return `${username} (uid ${uid})`;
  } catch {
    // The uid has no account, as in many containers.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
