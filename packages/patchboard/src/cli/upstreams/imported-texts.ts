import { isSecretName } from '../../settings/config-values.ts';
import type { McpUpstreamConfig } from '../../settings/upstream-config.ts';

/** The variables that the imported settings refer to, with the value that the file had; null: the file had none. */
export type ImportedVariables = Map<string, string | null>;

/** Thrown for a reference to a variable that has no counterpart. */
export class UnknownReference extends Error {}

const REFERENCE = /\$\{([^}]*)\}?/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const AUTHORIZATION = /^((?:bearer|basic)\s+)(\S.*)$/i;
const FLAG = /^(--?([A-Za-z][\w-]*)=)(.+)$/s;
const LONE_FLAG = /^--?([A-Za-z][\w-]*)$/;

/** Rewrites the texts of an entry: references of other programs become `${NAME}`, and secrets too if `asVariables`. */
export class ImportedTexts {
  readonly #server: string;
  readonly #asVariables: boolean;
  readonly #variables: ImportedVariables;

  constructor(server: string, asVariables: boolean, variables: ImportedVariables) {
    this.#server = server;
    this.#asVariables = asVariables;
    this.#variables = variables;
  }

  rewrite(config: McpUpstreamConfig): McpUpstreamConfig {
    const { url, headers, args, env } = config;
    return {
      ...config,
      ...(url === undefined ? {} : { url: this.#address(url) }),
      ...(headers === undefined ? {} : { headers: this.#record(headers, false) }),
      ...(args === undefined ? {} : { args: this.#arguments(args) }),
      ...(env === undefined ? {} : { env: this.#record(env, true) }),
    };
  }

  /** `isEnvironment`: the names are those of variables already. */
  #record(texts: Readonly<Record<string, string>>, isEnvironment: boolean): Record<string, string> {
    const entries = Object.entries(texts).map(([name, text]): [string, string] => {
      const value = this.#references(text);
      if (!isSecretName(name)) return [name, value];
      const [, scheme = '', secret = value] = AUTHORIZATION.exec(value) ?? [];
      return [name, scheme + this.#secret(isEnvironment && NAME.test(name) ? name : null, name, secret)];
    });
    return Object.fromEntries(entries);
  }

  #arguments(args: readonly string[]): string[] {
    return args.map((text, index) => {
      const value = this.#references(text);
      const [, flag = '', name = '', secret = ''] = FLAG.exec(value) ?? [];
      if (isSecretName(name)) return flag + this.#secret(null, name, secret);
      const before = LONE_FLAG.exec(args[index - 1] ?? '')?.[1] ?? '';
      return isSecretName(before) && !value.startsWith('-') ? this.#secret(null, before, value) : value;
    });
  }

  /** Query parameters with names of secrets. */
  #address(text: string): string {
    return this.#references(text).replaceAll(
      /([?&])([^=&#]+)=([^&#]+)/g,
      (whole, mark: string, name: string, value: string) =>
        isSecretName(name) ? `${mark}${name}=${this.#secret(null, name, value)}` : whole,
    );
  }

  /** `wanted`: the name of the variable, unless it holds another value already. */
  #secret(wanted: string | null, name: string, value: string): string {
    if (!this.#asVariables || value === '' || value.includes('${')) return value;
    const own = variableName(`${this.#server}_${name}`);
    for (const variable of [...(wanted === null ? [] : [wanted]), own, ...numbered(own)]) {
      const known = this.#variables.get(variable);
      if (known !== undefined && known !== value) continue;
      this.#variables.set(variable, value);
      return `\${${variable}}`;
    }
    return value;
  }

  #references(text: string): string {
    return text.replaceAll(REFERENCE, (reference, inside: string) => {
      const name = reference.endsWith('}') ? nameIn(inside) : null;
      if (name === null)
        throw new UnknownReference(`it uses ${reference}, which has no counterpart; replace it in the file`);
      if (!this.#variables.has(name)) this.#variables.set(name, null);
      return `\${${name}}`;
    });
  }
}

/** `${NAME}`, `${env:NAME}` and `${input:id}` name a variable. */
function nameIn(inside: string): string | null {
  if (NAME.test(inside)) return inside === 'workspaceFolder' ? null : inside === 'userHome' ? 'HOME' : inside;
  const [, kind, name = ''] = /^(env|input):(.+)$/.exec(inside) ?? [];
  if (kind === 'env') return NAME.test(name) ? name : null;
  return kind === 'input' ? variableName(name) : null;
}

function variableName(text: string): string {
  const name = text
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return /^[0-9]/.test(name) || name === '' ? `_${name}` : name;
}

function* numbered(name: string): Generator<string> {
  for (let number = 2; number < 1000; number += 1) yield `${name}_${number}`;
}
