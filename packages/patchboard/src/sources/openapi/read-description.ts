import { reason, type Reason } from '@patchboard/wire';
import { isRecord, type JsonObject } from '@patchboard/wire/json';
import { messageOf } from '../../core/failures.ts';
import { utf8Bytes } from '../../core/json/utf8-bytes.ts';
import { visibleLine } from '../../core/tools/tool-names.ts';
import { LocalReferences } from './local-references.ts';

/** The largest text of a description. */
export const DESCRIPTION_BYTES: number = 8 * 1024 * 1024;
const MAX_DEPTH = 100;
const MAX_VALUES = 1_000_000;
const SHOWN_CHARACTERS = 200;

/** An OpenAPI description that was parsed. Its operations have not been looked at. */
export interface Description {
  readonly document: JsonObject;
  readonly version: '3.0' | '3.1';
  /** `info`; empty strings if the description has none. */
  readonly info: { readonly title: string; readonly version: string };
  readonly references: LocalReferences;
}

export type ReadDescription =
  { readonly ok: true; readonly description: Description } | { readonly ok: false; readonly problem: Reason };

/** Parses the text of an OpenAPI description, JSON or YAML. Fetches and reads nothing else. */
export async function readDescription(text: string): Promise<ReadDescription> {
  // A character takes at least one byte.
  if (text.length > DESCRIPTION_BYTES || utf8Bytes(text) > DESCRIPTION_BYTES)
    return { ok: false, problem: reason('description_over_bytes', { bytes: DESCRIPTION_BYTES }) };
  const parsed = await parseText(text);
  if (!parsed.ok) return parsed;
  const problem = sizeProblem(parsed.value);
  if (problem !== null) return { ok: false, problem };
  return describe(parsed.value);
}

type Parsed =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: Reason };

async function parseText(text: string): Promise<Parsed> {
  const source = text.startsWith('\ufeff') ? text.slice(1) : text;
  try {
    return { ok: true, value: /^\s*\{/.test(source) ? JSON.parse(source) : await parseYaml(source) };
  } catch (error) {
    // Both parsers quote the text.
    const message = messageOf(error);
    const shown = visibleLine(message.slice(0, SHOWN_CHARACTERS));
    return { ok: false, problem: reason('description_unreadable', { error: shown }) };
  }
}

/**
 * `json`: as in JSON, the last of two members with the same name counts. Descriptions use `<<`, although YAML 1.2 has no
 * merge keys.
 */
async function parseYaml(text: string): Promise<unknown> {
  const { CORE_SCHEMA, load, mergeTag } = await import('js-yaml');
  return load(text, { schema: CORE_SCHEMA.withTags(mergeTag), maxDepth: MAX_DEPTH, json: true });
}

/** An alias of YAML is the same object in several places, and may contain itself: what is counted is the tree. */
function sizeProblem(value: unknown): Reason | null {
  let left = MAX_VALUES;
  const visit = (each: unknown, depthLeft: number): Reason | null => {
    left -= 1;
    if (left < 0) return reason('description_many_values', { count: MAX_VALUES });
    if (typeof each !== 'object' || each === null) return null;
    if (depthLeft === 0) return reason('description_too_deep', { levels: MAX_DEPTH });
    for (const member of Object.values(each)) {
      const problem = visit(member, depthLeft - 1);
      if (problem !== null) return problem;
    }
    return null;
  };
  return visit(value, MAX_DEPTH);
}

async function describe(document: unknown): Promise<ReadDescription> {
  const version = isRecord(document) ? versionOf(document) : reason('description_not_openapi');
  if (typeof version !== 'string') return { ok: false, problem: version };
  const given = document as JsonObject;
  const info = isRecord(given['info']) ? given['info'] : {};
  return {
    ok: true,
    description: {
      document: given,
      version,
      info: { title: lineOf(info['title']), version: lineOf(info['version']) },
      references: await LocalReferences.of(given),
    },
  };
}

/** YAML reads `openapi: 3.1` as a number. */
function versionOf({ openapi, swagger }: JsonObject): '3.0' | '3.1' | Reason {
  if (openapi === undefined && swagger !== undefined)
    return reason('description_swagger', { version: lineOf(swagger) });
  if (typeof openapi !== 'string' && typeof openapi !== 'number') return reason('description_not_openapi');
  // The number 3.0 is 3.
  const version = openapi === 3 ? '3.0' : String(openapi);
  const known = /^3\.[01](?=$|\.\d)/.exec(version)?.[0];
  return known === '3.0' || known === '3.1'
    ? known
    : reason('description_version', { version: lineOf(version) });
}

function lineOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number'
    ? visibleLine(String(value).slice(0, SHOWN_CHARACTERS))
    : '';
}
