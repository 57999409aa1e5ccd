import { chownSync, mkdirSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { SandboxUser } from './enclosure.ts';

/** Nobody's on any common system: outside what accounts, containers and services are given. */
const OWN_USER: SandboxUser = { uid: 64_823, gid: 64_823 };

/** A folder that somebody has to see to before commands can work in it. */
export class UnusableFolder extends Error {}

/** Makes a workspace that belongs to whoever commands run as; one that is there stays as it is. */
export function makeWorkspace(root: string): void {
  if (mkdirSync(root, { recursive: true, mode: 0o700 }) === undefined) return;
  if (process.getuid?.() === 0) chownSync(root, OWN_USER.uid, OWN_USER.gid);
}

/**
 * Who commands in this folder run as; null: as the server. A server that runs as root never runs them as root: they
 * run as the owner of the workspace, and nobody else's files are theirs.
 */
export function userOf(root: string): SandboxUser | null {
  if (process.getuid?.() !== 0) return null;
  const { uid, gid } = statSync(root);
  if (uid !== 0) return { uid, gid };
  throw new UnusableFolder(
    `${root} belongs to root, and the server runs as root: commands would run as root in it. Give the folder to ` +
      `another user (chown -R 1000:1000 ${root}), or start the server as its user`,
  );
}

/** The name and number of the user that the server runs as. */
export function serverUser(): string {
  try {
    const { username, uid } = userInfo();
    return `${username} (uid ${uid})`;
  } catch {
    // A number without an account, as containers have it.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
