import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { messageOf } from '../core/failures.ts';
import { CONFIG_SCHEMA, type ConfigFile } from './config-schema.ts';

/** A setting that cannot be used. Its message is one line for a person. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

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
