import { join } from 'node:path';
import { runCommand } from '../support/run-command.ts';
import { cleanEnvironment, ROOT } from '../support/server-process.ts';

const MAIN = join(ROOT, 'packages', 'patchboard', 'src', 'cli', 'main.ts');

/** A command as `--help` tells of it; `options` without `--help` and `--version`. */
export interface HelpedCommand {
  readonly path: string;
  readonly options: readonly string[];
}

/** Every command that does something, found by asking each for its help. */
export async function commandsOfHelp(path: readonly string[] = []): Promise<HelpedCommand[]> {
  const args = ['--conditions=patchboard-source', MAIN, ...path, '--help'];
  const { code, out, error } = await runCommand(process.execPath, args, {
    cwd: ROOT,
    env: cleanEnvironment(),
  });
  if (code !== 0) throw new Error(`${path.join(' ')} --help failed: ${error}`);
  const names = namesIn(out, 'Commands:', /^ {2}([a-z][\w-]*)/).filter((name) => name !== 'help');
  if (names.length === 0) {
    const options = namesIn(out, 'Options:', /^ {2}(?:-\w, )?(--[\w-]+)/);
    return [
      { path: ['patchboard', ...path].join(' '), options: options.filter((name) => name !== '--help') },
    ];
  }
  return (await Promise.all(names.map((name) => commandsOfHelp([...path, name])))).flat();
}

function namesIn(help: string, title: string, pattern: RegExp): string[] {
  const lines = help.split('\n');
  const start = lines.indexOf(title);
  if (start === -1) return [];
  const end = lines.indexOf('', start);
  return lines
    .slice(start + 1, end === -1 ? undefined : end)
    .flatMap((line) => pattern.exec(line)?.[1] ?? []);
}
