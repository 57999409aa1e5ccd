import { resolve } from 'node:path';
import { env } from 'node:process';

/** The environment variables. Only this file reads them from the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export function environment(): Environment {
  return env;
}

export interface ClientSettings {
  readonly url: string;
  /** `PATCHBOARD_URL`; null if it is not set. */
  readonly givenUrl: string | null;
  readonly key: string | null;
  /** The first of `PATCHBOARD_OPERATOR_TOKEN`; null if it is not set. */
  readonly operatorToken: string | null;
  /** The data folder of a server on this machine; the operator token is read from it. */
  readonly dataFolder: string;
}

/** Returns the server URL and credentials for the commands that call a server. */
export function clientSettings(given: Environment): ClientSettings {
  const port = setting(given, 'PORT') ?? '8080';
  const givenUrl = setting(given, 'PATCHBOARD_URL');
  return {
    url: givenUrl ?? `http://127.0.0.1:${port}`,
    givenUrl,
    key: setting(given, 'PATCHBOARD_KEY'),
    operatorToken: givenOperatorTokens(given)?.[0] ?? null,
    dataFolder: resolve(setting(given, 'PATCHBOARD_DATA') ?? '.patchboard'),
  };
}

/** Returns the tokens of `PATCHBOARD_OPERATOR_TOKEN`, as written; null if it is not set. */
export function givenOperatorTokens(given: Environment): readonly string[] | null {
  const text = setting(given, 'PATCHBOARD_OPERATOR_TOKEN');
  return text === null ? null : text.split(',').map((token) => token.trim());
}

/** Returns the editor command, chosen in the same order as `git` does. */
export function editorCommand(given: Environment): string {
  return setting(given, 'VISUAL') ?? setting(given, 'EDITOR') ?? 'vi';
}

/** Treats an empty variable as not set: `KEY= command` is how shells clear one. */
function setting(given: Environment, name: string): string | null {
  const value = given[name];
  return value === undefined || value === '' ? null : value;
}
