import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { env } from 'node:process';
import { ConfigError } from './config-error.ts';
import { fileProblem } from './file-problem.ts';

/** The environment variables. Only this file reads them from the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Secrets that may be in a file: `DATABASE_URL_FILE` names the file of `DATABASE_URL`, as container platforms mount secrets. */
const IN_FILES = ['DATABASE_URL', 'DATABASE_LISTEN_URL', 'NATS_URL', 'PATCHBOARD_OPERATOR_TOKEN'] as const;

/** A file is read when its variable is used, which throws a `ConfigError` if that fails: most commands use none of them. */
export function environment(given: Environment = env): Environment {
  const all: Record<string, string | undefined> = { ...given };
  for (const name of IN_FILES) {
    const file = setting(given, `${name}_FILE`);
    if (file !== null)
      Object.defineProperty(all, name, { enumerable: true, get: () => contentOf(given, name, file) });
  }
  return all;
}

function contentOf(given: Environment, name: string, file: string): string {
  if (setting(given, name) !== null)
    throw new ConfigError(`${name} and ${name}_FILE are both set: remove one of them`);
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch (error) {
    throw new ConfigError(`${name}_FILE names ${file}, which cannot be read: ${fileProblem(error)}`);
  }
}

export interface ClientSettings {
  readonly url: string;
  /** `PATCHBOARD_URL`; null if it is not set. */
  readonly givenUrl: string | null;
  readonly key: string | null;
  /** `PATCHBOARD_PROFILE`; null if it is not set. */
  readonly profile: string | null;
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
    profile: setting(given, 'PATCHBOARD_PROFILE'),
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

/** Returns the folder of this user's settings: `patchboard` in `XDG_CONFIG_HOME`, default `~/.config`. */
export function configFolder(given: Environment): string {
  return join(setting(given, 'XDG_CONFIG_HOME') ?? join(homedir(), '.config'), 'patchboard');
}

/** Returns `COLUMNS`, the width of the terminal; null if it is not set to a number. */
export function givenColumns(given: Environment): number | null {
  const columns = Number(setting(given, 'COLUMNS') ?? Number.NaN);
  return Number.isInteger(columns) && columns > 0 ? columns : null;
}

/** Returns the command of `BROWSER`, and whether the session has a display for a browser (X11 or Wayland). */
export function browserSettings(given: Environment): {
  readonly command: string | null;
  readonly hasDisplay: boolean;
} {
  const display = setting(given, 'DISPLAY') ?? setting(given, 'WAYLAND_DISPLAY');
  return { command: setting(given, 'BROWSER'), hasDisplay: display !== null };
}

function setting(given: Environment, name: string): string | null {
  const value = given[name];
  return isSet(value) ? value : null;
}

/** Treats an empty variable as not set: `KEY= command` is how shells clear one. */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
