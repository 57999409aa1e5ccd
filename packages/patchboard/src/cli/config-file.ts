import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { DEFAULT_LIMITS } from '../core/limits.ts';
import { messageOf } from '../core/failures.ts';

/** A setting that cannot be used. Its message is one line for a person. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

/** The config file as written; `resolveSettings` turns it into complete settings. */
export interface ConfigFile {
  readonly http?: {
    readonly allowed_hosts?: readonly string[];
    readonly allowed_origins?: readonly string[];
  };
  readonly tools?: Readonly<Record<string, ToolConfig>>;
  readonly limits?: Readonly<Record<string, number>>;
  readonly retention?: { readonly calls_days?: number };
}

export interface ToolConfig {
  readonly timeout_ms?: number;
  /** database.query only: a SQLite file or a postgres:// URL. */
  readonly database?: string;
}

const count = { type: 'integer', minimum: 1 };
const names = { type: 'array', items: { type: 'string', minLength: 1 } };

/** Limits as they are written in the file: snake_case of the engine's own names. */
export const LIMIT_KEYS: ReadonlyMap<string, keyof typeof DEFAULT_LIMITS> = new Map(
  (Object.keys(DEFAULT_LIMITS) as (keyof typeof DEFAULT_LIMITS)[]).map((name) => [snakeCase(name), name]),
);

export const CONFIG_SCHEMA: Readonly<Record<string, unknown>> = {
  type: 'object',
  additionalProperties: false,
  properties: {
    http: {
      type: 'object',
      additionalProperties: false,
      properties: { allowed_hosts: names, allowed_origins: names },
    },
    tools: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: {
          timeout_ms: { ...count, maximum: DEFAULT_LIMITS.maxTimeoutMs },
          database: { type: 'string', minLength: 1 },
        },
      },
    },
    limits: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries([...LIMIT_KEYS.keys()].map((key) => [key, count])),
    },
    retention: { type: 'object', additionalProperties: false, properties: { calls_days: count } },
  },
};

/** Reads YAML or JSON (which is YAML too). Every complaint names file, line and key. */
export function readConfigFile(file: string): ConfigFile {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`cannot read ${file}: ${messageOf(error)}`);
  }
  return parseConfig(text, file);
}

export function parseConfig(text: string, file: string): ConfigFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const [syntax] = document.errors;
  if (syntax !== undefined) {
    throw new ConfigError(`${file}:${lines.linePos(syntax.pos[0]).line}: ${syntax.message.split('\n')[0]}`);
  }
  const value = (document.toJS({ maxAliasCount: 100 }) ?? {}) as unknown;
  const validate = new Ajv2020({ allErrors: true, strict: false }).compile(CONFIG_SCHEMA);
  if (validate(value)) return value as ConfigFile;
  const [first] = validate.errors ?? [];
  if (first === undefined) throw new ConfigError(`${file}: not a valid config`);
  const path = first.instancePath.split('/').slice(1).map(unescapePointer);
  const unknown = first.params['additionalProperty'] as string | undefined;
  const place = [...path, ...(unknown === undefined ? [] : [unknown])];
  const line = lineOf(document, lines, place);
  const complaint =
    unknown === undefined
      ? `${place.join('.')} ${first.message ?? 'is not valid'}`
      : `unknown key ${place.join('.')}`;
  throw new ConfigError(`${file}:${line}: ${complaint}`);
}

function lineOf(document: Document, lines: LineCounter, path: readonly string[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const pairs =
      (parent as { items?: { key?: { value?: unknown; range?: number[] } }[] } | null)?.items ?? [];
    const key = pairs.find((pair) => String(pair.key?.value) === path[length - 1])?.key;
    if (key?.range?.[0] !== undefined) return lines.linePos(key.range[0]).line;
  }
  return 1;
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
