import { ConfigError } from './config-file.ts';
import { isSet, type Environment } from './environment.ts';

/** Where a config was read: its file, for error messages, and the folder that relative paths start from. */
export interface ConfigSource {
  readonly file: string;
  readonly folder: string;
  readonly lineOf: (place: readonly string[]) => number;
}

type Place = readonly string[];

const REFERENCE = /\$\$\{|\$\{([^}]*)\}?/g;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const AUTHORIZATION = /^(?:bearer|basic)\s+(.+)$/i;
/** Headers, variables, query parameters and flags with these names hold a secret. */
const SECRET_NAME = /^(?:proxy-)?authorization$|cookie|token|secret|key|passw/i;
/** Variables that every system sets. Their values are no secrets, and occur in results, such as paths below `HOME`. */
const PUBLIC_VARIABLES = new Set([
  'HOME',
  'HOSTNAME',
  'LANG',
  'LOGNAME',
  'PATH',
  'PWD',
  'SHELL',
  'TMPDIR',
  'USER',
]);

/** Thrown for a variable that is not set. */
export class MissingVariable extends ConfigError {
  readonly variable: string;

  constructor(message: string, variable: string) {
    super(message);
    this.name = 'MissingVariable';
    this.variable = variable;
  }
}

/** Fills in environment variables, and collects the values that must never be shown. */
export class ConfigValues {
  readonly #given: Environment;
  readonly #source: ConfigSource;
  readonly #secrets: Set<string>;

  constructor(given: Environment, source: ConfigSource, secrets: Set<string>) {
    this.#given = given;
    this.#source = source;
    this.#secrets = secrets;
  }

  get folder(): string {
    return this.#source.folder;
  }

  /** Replaces `${NAME}` by the variable, and `$${` by `${`. */
  filled(text: string, place: Place): string {
    return text.replaceAll(REFERENCE, (reference, name: string | undefined) => {
      if (name === undefined) return '${';
      if (!reference.endsWith('}') || !VARIABLE.test(name))
        this.fail(place, `\${${name}} is not a variable; write \${NAME}, or $\${ for a literal \${`);
      const value = this.#variable(name, place);
      if (!PUBLIC_VARIABLES.has(name)) this.addSecret(value);
      return value;
    });
  }

  /** Fills in each value. Values whose name is that of a secret are collected. */
  filledRecord(
    texts: Readonly<Record<string, string>> | undefined,
    place: Place,
  ): Readonly<Record<string, string>> {
    const filled = Object.entries(texts ?? {}).map(([name, text]): [string, string] => {
      const value = this.filled(text, [...place, name]);
      if (isSecretName(name)) this.addSecret(value);
      return [name, value];
    });
    return Object.fromEntries(filled);
  }

  /** Returns the value of the variable that a member such as `secret_env` names. */
  secretVariable(name: string, place: Place): string {
    const value = this.#variable(name, place);
    this.addSecret(value);
    return value;
  }

  addSecret(value: string): void {
    const credentials = AUTHORIZATION.exec(value)?.[1]?.trim();
    for (const secret of [value, credentials])
      if (secret !== undefined && secret !== '') this.#secrets.add(secret);
  }

  fail(place: Place, message: string): never {
    throw new ConfigError(this.#at(place, message));
  }

  #at(place: Place, message: string): string {
    return `${this.#source.file}:${this.#source.lineOf(place)}: ${place.join('.')}: ${message}`;
  }

  #variable(name: string, place: Place): string {
    const value = this.#given[name];
    if (!isSet(value)) throw new MissingVariable(this.#at(place, `the variable ${name} is not set`), name);
    return value;
  }
}

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}
