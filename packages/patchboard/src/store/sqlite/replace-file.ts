import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file so that a crash at any point leaves the old text or the new one: written under another name, synced,
 * renamed, and the folder synced. `mayReplace` is asked between: a folder that takes the place of this one meanwhile keeps
 * its file. False: nothing was replaced.
 */
export async function replaceFile(file: string, text: string, mayReplace: () => boolean): Promise<boolean> {
  if (!mayReplace()) return false;
  const draft = `${file}.new`;
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  // A draft in another folder would show here, and one in the old folder cannot be renamed in another.
  if (!mayReplace()) {
    await rm(draft, { force: true });
    return false;
  }
  await rename(draft, file);
  await syncFolder(dirname(file));
  return true;
}

/** Windows has no descriptors of folders, and syncs a rename by itself. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
