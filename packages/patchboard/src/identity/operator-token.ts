import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILE = 'operator.token';
const PREFIX = 'op_';
/** A shorter operator token is refused at the start. */
export const MIN_TOKEN_CHARACTERS = 32;

export function operatorTokenFile(dataFolder: string): string {
  return join(dataFolder, FILE);
}

/** Returns a new token; a server without a data folder uses one that is never stored. */
export function newOperatorToken(): string {
  return `${PREFIX}${randomBytes(32).toString('base64url')}`;
}

/** Returns the operator token of this data folder. The first call creates the file, readable by its owner only. */
export async function ensureOperatorToken(dataFolder: string): Promise<string> {
  const file = operatorTokenFile(dataFolder);
  const token = newOperatorToken();
  try {
    // `wx` fails if the file exists: two servers that start at once cannot both write it.
    const handle = await open(file, 'wx', 0o600);
    try {
      await handle.writeFile(`${token}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const kept = (await readFile(file, 'utf8')).trim();
  if (!kept.startsWith(PREFIX) || kept.length < 40) {
    throw new Error(`${file} holds no operator token: delete it; the next start creates a new one`);
  }
  return kept;
}

/** A wrong credential with this prefix is a guess at the operator token. */
export function hasOperatorTokenPrefix(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Compares hashes in constant time, so that the time taken reveals neither content nor length. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(sha256(given), sha256(expected));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
