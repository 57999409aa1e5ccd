import type { Log } from '../core/ports.ts';
import { ensureOperatorToken } from '../identity/operator-token.ts';
import { ConfigError } from '../settings/config-file.ts';
import { fileProblem } from '../settings/file-problem.ts';
import { logTightened } from '../settings/keep-private.ts';
import { closeOperatorToken } from '../settings/private-data-folder.ts';

/** Returns the operator token of a data folder, and removes access of other users to its file. Throws `ConfigError` if the file cannot be used. */
export async function operatorTokenIn(dataFolder: string, log: Log): Promise<string> {
  try {
    const tightened = await closeOperatorToken(dataFolder);
    const token = await ensureOperatorToken(dataFolder);
    logTightened(tightened, log);
    return token;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`cannot use the operator token in ${dataFolder}: ${fileProblem(error)}`);
  }
}
