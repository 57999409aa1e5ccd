import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Environment } from '../../settings/environment.ts';
import { UsageError } from '../exit-codes.ts';
import type { SecretSource } from './profile-file.ts';

/** Resolves to the secret. `what` names it in messages, which never contain the secret. */
export async function secretOf(
  { value, env, command }: SecretSource,
  environment: Environment,
  what: string,
): Promise<string> {
  if (value !== undefined) return value;
  if (env !== undefined) {
    const secret = (environment[env] ?? '').trim();
    if (secret === '') throw new UsageError(`${what} comes from the variable ${env}, which is not set`);
    return secret;
  }
  return await printedSecret(command ?? '', what);
}

/** The command may ask for a passphrase: its stdin and stderr are those of this process. */
async function printedSecret(command: string, what: string): Promise<string> {
  const child = spawn(command, { shell: true, stdio: ['inherit', 'pipe', 'inherit'] });
  const closed = once(child, 'close') as Promise<[code: number | null]>;
  const [printed, [code]] = await Promise.all([text(child.stdout), closed]);
  const secret = printed.trim();
  if (code !== 0) throw new UsageError(`${what} comes from a command that failed with ${code}: ${command}`);
  if (secret === '') throw new UsageError(`${what} comes from a command that printed nothing: ${command}`);
  return secret;
}

/** Describes where the secret comes from, without the secret. */
export function secretText({ value, env, command }: SecretSource | Record<string, undefined>): string {
  if (value !== undefined) return 'stored in the profile';
  return env === undefined ? `printed by: ${command ?? ''}` : `the variable ${env}`;
}
