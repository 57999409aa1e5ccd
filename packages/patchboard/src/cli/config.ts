import { env } from 'node:process';

/** Variables as they were given. This is the only file that reads them. */
export type Environment = Readonly<Record<string, string | undefined>>;

export function environment(): Environment {
  return env;
}

export interface ClientSettings {
  readonly url: string;
  readonly key: string | null;
}

/** Where the commands that talk to a server find it. */
export function clientSettings(given: Environment): ClientSettings {
  const port = given['PORT'] ?? '8080';
  return {
    url: given['PATCHBOARD_URL'] ?? `http://127.0.0.1:${port}`,
    key: given['PATCHBOARD_KEY'] ?? null,
  };
}
