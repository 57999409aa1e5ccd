import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Lets a person change the text in their editor. Null: the editor gave up. The file is in a folder of its own that only
 * this user can read, because arguments may be secret.
 */
export async function editText(command: string, text: string, signal: AbortSignal): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-'));
  // Ctrl-C in the editor is the editor's, although the terminal sends it to us too.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    const file = join(folder, 'arguments.json');
    await writeFile(file, `${text}\n`, { mode: 0o600 });
    // Through a shell, as git does it: EDITOR may hold arguments.
    const child = spawn('sh', ['-c', `${command} "$1"`, command, file], { stdio: 'inherit', signal });
    const [code] = (await once(child, 'close')) as [number | null];
    return code === 0 ? await readFile(file, 'utf8') : null;
  } finally {
    process.off('SIGINT', ignore);
    await rm(folder, { recursive: true, force: true });
  }
}
