import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file atomically: writes a temporary file, syncs it, renames it and syncs the folder. Calls `mayReplace` before
 * and in between, so that the file of a folder that replaced this one meanwhile is not changed. Resolves to false if nothing
 * was replaced.
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
  // Detects a folder replaced before the draft was written; if it is replaced after this check, the rename fails.
  if (!mayReplace()) {
    await rm(draft, { force: true });
    return false;
  }
  await rename(draft, file);
  await syncFolder(dirname(file));
  return true;
}

/** Windows has no descriptors of folders, and makes a rename durable by itself. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
