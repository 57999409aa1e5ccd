import { PatchboardError } from '@patchboard/client';
import { clientSettings, type ClientSettings, type Environment } from '../settings/environment.ts';
import { runningServer } from '../settings/server-file.ts';
import { UsageError } from './exit-codes.ts';
import { profileFileOf, readProfiles, type Profile, type SecretSource } from './profiles/profile-file.ts';
import { secretOf } from './profiles/profile-secret.ts';

/** What names the server of a command. */
export interface ServerChoice {
  readonly url?: string;
  readonly profile?: string;
}

/** A credential and where it comes from, for messages. */
interface Credential {
  readonly secret: string;
  readonly source: 'PATCHBOARD_KEY' | 'PATCHBOARD_OPERATOR_TOKEN' | 'profile';
}

/** The server of a command and the credentials that are set for it. */
export interface Connection {
  readonly url: string;
  /** False: nothing names a server, none runs on the data folder, and the URL is the default. */
  readonly isFound: boolean;
  /** Whether flags, environment or profile name the server. */
  readonly isNamed: boolean;
  /** The name of the profile in use; null if none is. */
  readonly profile: string | null;
  /** The tenant of the profile; null if it has none. */
  readonly tenant: string | null;
  readonly dataFolder: string;
  /** Resolves to the key of an agent or an operator; null if none is set. */
  key(): Promise<Credential | null>;
  /**
   * Resolves to the credential of an operator's command; null if none is set. Of a profile with both, the operator token: its
   * key is for agents. The token of a data folder does not count.
   */
  operatorCredential(): Promise<Credential | null>;
}

interface NamedProfile {
  readonly name: string;
  readonly profile: Profile;
  /** Given as a flag, so that the environment does not count. */
  readonly isFlag: boolean;
}

const RESOLVED: WeakMap<Environment, Map<string, Promise<Connection>>> = new WeakMap();

/**
 * Finds the server of a command. The first of these counts: `--url` and `--profile`; `PATCHBOARD_URL`; the profile of
 * `PATCHBOARD_PROFILE` or `profile use`; the server that runs on the data folder; the default URL. The result is kept, so
 * that the command of a secret runs only once.
 */
export function connectionOf(environment: Environment, choice: ServerChoice): Promise<Connection> {
  const { url, profile } = choice;
  const resolved = RESOLVED.get(environment) ?? new Map<string, Promise<Connection>>();
  RESOLVED.set(environment, resolved);
  const id = JSON.stringify([url, profile]);
  const known = resolved.get(id) ?? resolve(environment, choice);
  resolved.set(id, known);
  return known;
}

async function resolve(environment: Environment, choice: ServerChoice): Promise<Connection> {
  const settings = clientSettings(environment);
  const { dataFolder } = settings;
  const profile = await usedProfile(environment, settings, choice);
  const isFlag = profile?.isFlag === true;
  const named = choice.url ?? (isFlag ? undefined : settings.givenUrl) ?? profile?.profile.url;
  const url = named ?? (await runningServer(dataFolder))?.url;
  const ofProfile = async (secret: SecretSource | undefined, what: string): Promise<Credential | null> => {
    if (profile === null || secret === undefined) return null;
    const name = `the ${what} of profile ${profile.name}`;
    return { secret: await secretOf(secret, environment, name), source: 'profile' };
  };
  const { key, operatorToken, tenant }: Partial<Profile> = profile?.profile ?? {};
  const profileKey = once(() => ofProfile(key, 'key'));
  const profileToken = once(() => ofProfile(operatorToken, 'operator token'));
  const [envKey = null, envToken = null] = isFlag ? [null, null] : environmentCredentials(settings);
  return {
    url: url ?? settings.url,
    isFound: url !== undefined,
    isNamed: named !== undefined,
    profile: profile?.name ?? null,
    tenant: tenant ?? null,
    dataFolder,
    key: async () => envKey ?? (await profileKey()),
    operatorCredential: async () => envKey ?? envToken ?? (await profileToken()) ?? (await profileKey()),
  };
}

function environmentCredentials({ key, operatorToken }: ClientSettings): (Credential | null)[] {
  return [
    key === null ? null : { secret: key, source: 'PATCHBOARD_KEY' },
    operatorToken === null ? null : { secret: operatorToken, source: 'PATCHBOARD_OPERATOR_TOKEN' },
  ];
}

/** Returns null also if the URL that was given is not the profile's: its credentials are for its server only. */
async function usedProfile(
  environment: Environment,
  settings: ClientSettings,
  { url, profile: flag }: ServerChoice,
): Promise<NamedProfile | null> {
  const name = flag ?? settings.profile;
  const file = await readProfiles(environment);
  const used = name ?? file.current;
  if (used === null) return null;
  const profile = Object.hasOwn(file.profiles, used) ? file.profiles[used] : undefined;
  if (profile === undefined) {
    // A server that is named needs no profile.
    if (name === null && (url ?? settings.givenUrl ?? null) !== null) return null;
    throw unknownProfile(environment, used, Object.keys(file.profiles));
  }
  const isFlag = flag !== undefined;
  const given = url ?? (isFlag ? null : settings.givenUrl);
  if (given === null || isSameServer(given, profile.url)) return { name: used, profile, isFlag };
  if (isFlag) throw new UsageError(`--url and --profile ${used} name two servers: omit one of them`);
  return null;
}

export function unknownProfile(
  environment: Environment,
  name: string,
  known: readonly string[],
): PatchboardError {
  const list = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`;
  const detail = `there is no profile "${name}" in ${profileFileOf(environment)}: ${list}`;
  return new PatchboardError('problem', detail, { code: 'value_not_found' });
}

function isSameServer(one: string, other: string): boolean {
  const base = (text: string): string => {
    const url = URL.parse(text);
    return url === null ? text : `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  };
  return base(one) === base(other);
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | null = null;
  return () => (result ??= work());
}
