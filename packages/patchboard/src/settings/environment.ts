import { resolve } from 'node:path';
import { env } from 'node:process';

/** Variables as they were given. This is the only file that reads them. */
export type Environment = Readonly<Record<string, string | undefined>>;

export function environment(): Environment {
  return env;
}

export interface ClientSettings {
  readonly url: string;
  readonly key: string | null;
  /** Of a server on this machine: its operator token is read from there. */
  readonly dataFolder: string;
}

/** Where the commands that talk to a server find it, and what they show it. */
export function clientSettings(given: Environment): ClientSettings {
  const port = setting(given, 'PORT') ?? '8080';
  return {
    url: setting(given, 'PATCHBOARD_URL') ?? `http://127.0.0.1:${port}`,
    key: setting(given, 'PATCHBOARD_KEY'),
    dataFolder: resolve(setting(given, 'PATCHBOARD_DATA') ?? '.patchboard'),
  };
}

/** As `git` chooses it. */
export function editorCommand(given: Environment): string {
  return setting(given, 'VISUAL') ?? setting(given, 'EDITOR') ?? 'vi';
}

/** Empty counts as not set: `KEY= command` is how shells take a variable away. */
function setting(given: Environment, name: string): string | null {
  const value = given[name];
  return value === undefined || value === '' ? null : value;
}
