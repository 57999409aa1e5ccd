import { fileProblem } from '../settings/file-problem.ts';
import type { ArgumentSources } from './arguments.ts';
import { UsageError } from './exit-codes.ts';

/** Reads a file, or standard input for `-`. Throws a `UsageError` if it cannot be read. */
export async function readInput(sources: ArgumentSources, file: string): Promise<string> {
  try {
    return file === '-' ? await sources.readStdin() : await sources.readFile(file);
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${fileProblem(error)}`);
  }
}
