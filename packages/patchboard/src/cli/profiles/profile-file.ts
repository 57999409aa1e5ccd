import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '@patchboard/wire/json';
import { configFolder, type Environment } from '../../settings/environment.ts';
import { fileProblem } from '../../settings/file-problem.ts';
import { makeDataFolder } from '../../settings/make-data-folder.ts';
import { UsageError } from '../exit-codes.ts';

/** A secret, or where it comes from. Exactly one member is set. */
export interface SecretSource {
  readonly value?: string;
  /** Name of an environment variable. */
  readonly env?: string;
  /** Command of the shell that prints the secret. */
  readonly command?: string;
}

/** A server with the credentials for it. */
export interface Profile {
  readonly url: string;
  readonly key?: SecretSource;
  readonly operatorToken?: SecretSource;
  readonly tenant?: string;
}

export interface ProfileFile {
  /** The profile that is used if none is named; null if there is none. */
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const EMPTY: ProfileFile = { current: null, profiles: {} };
const PROFILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function profileFileOf(environment: Environment): string {
  return join(configFolder(environment), 'profiles.json');
}

export function isProfileName(text: string): boolean {
  return PROFILE_NAME.test(text);
}

export function throwIfInvalidProfileName(name: string): void {
  if (!isProfileName(name))
    throw new UsageError(`"${name}" is not a profile name: 1 to 64 of A-Z, a-z, 0-9, ".", "_" and "-"`);
}

/** Resolves to no profiles if there is no file. Throws a `UsageError` if it cannot be read. */
export async function readProfiles(environment: Environment): Promise<ProfileFile> {
  const file = profileFileOf(environment);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return EMPTY;
    throw new UsageError(`cannot read ${file}: ${fileProblem(error)}`);
  }
  const decoded = decodeFile(text);
  if (typeof decoded === 'string') throw new UsageError(`${file}: ${decoded}`);
  return decoded;
}

/** Writes the file atomically, readable by its owner only. */
export async function writeProfiles(
  environment: Environment,
  { current, profiles }: ProfileFile,
): Promise<void> {
  const file = profileFileOf(environment);
  const draft = `${file}-draft`;
  await makeDataFolder(configFolder(environment));
  // A draft that a killed process left could have another mode, which `writeFile` would keep.
  await rm(draft, { force: true });
  const encoded = Object.entries(profiles).map(([name, { operatorToken, ...rest }]) => [
    name,
    { ...rest, ...(operatorToken === undefined ? {} : { operator_token: operatorToken }) },
  ]);
  const content = { ...(current === null ? {} : { current }), profiles: Object.fromEntries(encoded) };
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

/** Returns what is wrong with the text if it is no file of profiles. */
function decodeFile(text: string): ProfileFile | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'is not JSON';
  }
  if (!isRecord(value)) return 'must be an object';
  const { current = null, profiles = {} } = value;
  if (current !== null && typeof current !== 'string') return '"current" must be the name of a profile';
  if (!isRecord(profiles)) return '"profiles" must be an object';
  const decoded: [string, Profile][] = [];
  for (const [name, entry] of Object.entries(profiles)) {
    const profile = decodeProfile(entry);
    if (typeof profile === 'string') return `profiles.${name}${profile}`;
    decoded.push([name, profile]);
  }
  return { current, profiles: Object.fromEntries(decoded) };
}

function decodeProfile(value: unknown): Profile | string {
  if (!isRecord(value)) return ' must be an object';
  const { url, key, operator_token: token, tenant } = value;
  if (typeof url !== 'string' || !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    return '.url must be an http(s) URL';
  if (tenant !== undefined && typeof tenant !== 'string') return '.tenant must be a text';
  if (key !== undefined && !isSecretSource(key)) return `.key ${SECRET_RULE}`;
  if (token !== undefined && !isSecretSource(token)) return `.operator_token ${SECRET_RULE}`;
  return {
    url,
    ...(key === undefined ? {} : { key }),
    ...(token === undefined ? {} : { operatorToken: token }),
    ...(tenant === undefined ? {} : { tenant }),
  };
}

const SECRET_RULE = 'must have one of the texts "value", "env" and "command"';

function isSecretSource(value: unknown): value is SecretSource {
  if (!isRecord(value)) return false;
  const members = ['value', 'env', 'command'].filter((name) => value[name] !== undefined);
  const [only, second] = members;
  return only !== undefined && second === undefined && typeof value[only] === 'string' && value[only] !== '';
}
