import { readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, fileProblems } from './config-file.ts';
import { fileProblem } from './file-problem.ts';
import { exposure } from './keep-private.ts';
import { UPSTREAM_FILE_SCHEMA, type UpstreamsConfig } from './upstream-config.ts';
import { parseText } from './yaml-text.ts';

/** `upstreams.json` as read. */
export interface UpstreamFile {
  readonly file: string;
  readonly value: UpstreamsConfig;
  readonly lineOf: (place: readonly string[]) => number;
}

const MODE = 0o600;

/** `upstreams.json` of a data folder: the upstreams that commands added. */
export function upstreamFileIn(dataFolder: string): string {
  return join(dataFolder, 'upstreams.json');
}

/**
 * Reads the file; an absent one is empty. Throws a `ConfigError` if other users can access it: its commands are run, and a
 * folder that came with a project of others has no such file that only this user can access.
 */
export function readUpstreamFile(dataFolder: string): UpstreamFile {
  const file = upstreamFileIn(dataFolder);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    // ENOTDIR: the data folder is a file. The server refuses it with a better message when it opens the folder.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { file, value: {}, lineOf: () => 1 };
    throw new ConfigError(`cannot read ${file}: ${fileProblem(error)}`);
  }
  const problem = exposure({ path: file, name: file, mode: MODE });
  if (problem !== null)
    throw new ConfigError(`${problem}. Look at its commands first: they are run when the server starts`);
  return parseUpstreamFile(text, file);
}

/** Throws a `ConfigError` if the text is no valid content of the file. */
export function parseUpstreamFile(text: string, file: string): UpstreamFile {
  const parsed = parseText(text);
  const [first] = fileProblems(parsed, UPSTREAM_FILE_SCHEMA);
  if (first !== undefined) throw new ConfigError(`${file}:${first.line}: ${first.message}`);
  return { file, value: parsed.value as UpstreamsConfig, lineOf: parsed.lineOf };
}

/**
 * Replaces the content of the file by what `change` returns, atomically. The draft is the lock: a second command fails
 * instead of overwriting the change of the first. Throws a `ConfigError` if the new content is not valid.
 */
export async function changeUpstreamFile(
  dataFolder: string,
  change: (config: UpstreamsConfig) => UpstreamsConfig,
): Promise<void> {
  const file = upstreamFileIn(dataFolder);
  const draft = `${file}-draft`;
  try {
    await writeFile(draft, '', { mode: MODE, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new ConfigError(`cannot write ${draft}: ${fileProblem(error)}`);
    throw new ConfigError(
      `another command is changing ${file}: run this one again; if there is no other, delete ${draft} first`,
    );
  }
  try {
    const text = `${JSON.stringify(change(readUpstreamFile(dataFolder).value), null, 2)}\n`;
    parseUpstreamFile(text, file);
    await writeFile(draft, text);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
