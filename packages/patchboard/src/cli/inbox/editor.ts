import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Opens the text in an editor and resolves to the changed text, or to null if the editor fails. The file is in a folder
 * that only this user can read, because arguments may be secret.
 */
export async function editText(command: string, text: string, signal: AbortSignal): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-'));
  // The terminal sends Ctrl-C to this process too, but it is meant for the editor.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    const file = join(folder, 'arguments.json');
    await writeFile(file, `${text}\n`, { mode: 0o600 });
    // Through a shell, like git: EDITOR may contain arguments.
    const child = spawn('sh', ['-c', `${command} "$1"`, command, file], { stdio: 'inherit', signal });
    const [code] = (await once(child, 'close')) as [number | null];
    return code === 0 ? await readFile(file, 'utf8') : null;
  } finally {
    process.off('SIGINT', ignore);
    await rm(folder, { recursive: true, force: true });
  }
}
