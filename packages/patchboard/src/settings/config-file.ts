import { readFileSync } from 'node:fs';
import type { InputIssueView } from '@patchboard/wire';
import {
  compileSchema,
  extraMemberOf,
  isRecord,
  MAX_ISSUES,
  pointerParts,
  TRUSTED_RULES,
  valueAt,
  type JsonObject,
} from '@patchboard/wire/json';
import { didYouMean } from '../core/spelling.ts';
import { decodePolicy } from '../core/access/policy/document.ts';
import { ESSENTIAL_TOOLS } from '../packs/essentials/tool-names.ts';
import { HERITAGE_TOOLS } from '../packs/heritage/names.ts';
import { ConfigError } from './config-error.ts';
import { CONFIG_SCHEMA, type ConfigFile, type ToolConfig } from './config-schema.ts';
import { isUpstreamTool, upstreamNames, type UpstreamsConfig } from './upstream-config.ts';
import { upstreamProblems } from './upstream-problems.ts';
import { parseText, type ParsedText, type TextProblem } from './yaml-text.ts';
import { fileProblem } from './file-problem.ts';

export { ConfigError };

/** A config file as read. */
export interface ConfigText {
  readonly file: string;
  readonly value: ConfigFile;
  /** Returns the line of a key. */
  readonly lineOf: (place: readonly string[]) => number;
}

/**
 * Reads YAML or JSON. Throws a `ConfigError` that names file, line and key. `upstreams` names the upstreams that are defined
 * elsewhere.
 */
export function readConfig(file: string, upstreams: readonly string[] = []): ConfigText {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`cannot read ${file}: ${fileProblem(error)}`);
  }
  return parseConfig(text, file, upstreams);
}

export function parseConfig(text: string, file: string, upstreams: readonly string[] = []): ConfigText {
  const parsed = parseText(text);
  const [first] = configProblems(parsed, upstreams);
  if (first === undefined) return { file, value: parsed.value as ConfigFile, lineOf: parsed.lineOf };
  throw new ConfigError(`${file}:${first.line}: ${first.message}`);
}

/** Returns all problems of a config, including those of its policy. `upstreams` names those that are defined elsewhere. */
export function configProblems(
  parsed: ParsedText,
  upstreams: readonly string[] = [],
): readonly TextProblem[] {
  const problems = fileProblems(parsed, CONFIG_SCHEMA);
  if (problems.length > 0) return problems;
  const file = parsed.value as ConfigFile;
  const { policy } = file;
  return [
    ...toolProblems(file, parsed, [...upstreams, ...upstreamNames(file)]),
    ...(policy === undefined ? [] : policyProblems(policy, parsed, ['policy'])),
  ];
}

/** Returns the problems that the schema of a file finds, or those of its upstreams. */
export function fileProblems(parsed: ParsedText, schema: JsonObject): readonly TextProblem[] {
  if (parsed.problems.length > 0) return parsed.problems;
  const issues = compileSchema(schema, TRUSTED_RULES)(parsed.value);
  if (issues !== null) return cutNamed(issues.map((issue) => problemOf(issue, schema, parsed)));
  return upstreamProblems(parsed.value as UpstreamsConfig).map(({ place, message }) => ({
    line: parsed.lineOf(place),
    message: `${place.join('.')} ${message}`,
  }));
}

/** Names that the list may be cut: a validation ends after so many issues. */
function cutNamed(problems: readonly TextProblem[]): readonly TextProblem[] {
  const last = problems.at(-1);
  if (last === undefined || problems.length < MAX_ISSUES) return problems;
  const message = `only the first ${MAX_ISSUES} problems are listed; there may be more`;
  return [...problems, { line: last.line, message }];
}

const SHIPPED_TOOLS: readonly string[] = [...ESSENTIAL_TOOLS, ...HERITAGE_TOOLS];

/** A rate may be set for any tool; all other keys only for tools that this server runs. */
function toolProblems(
  { tools = {}, packs = [] }: ConfigFile,
  parsed: ParsedText,
  upstreams: readonly string[],
): TextProblem[] {
  // The tools of these packs are not known before the packs are loaded; the server checks again at startup.
  const hasOwnPacks = packs.length > 0;
  return Object.entries(tools).flatMap(([name, tool]) => {
    const problemAt = (key: keyof ToolConfig, message: string): TextProblem[] => {
      const place = ['tools', name, key];
      return tool[key] === undefined
        ? []
        : [{ line: parsed.lineOf(place), message: `${place.join('.')} ${message}` }];
    };
    const isOurs = hasOwnPacks || SHIPPED_TOOLS.includes(name) || isUpstreamTool(name, upstreams);
    return [
      ...(isOurs
        ? []
        : problemAt(
            'timeout_ms',
            `is for tools of this server, which are ${SHIPPED_TOOLS.join(', ')}, and for those of upstreams; a client gives its tools their time limit when it registers them`,
          )),
      ...(isOurs ? [] : problemAt('cache_ttl_ms', 'is for tools of this server that only read')),
      ...(name === 'database.query' ? [] : problemAt('database', 'is for database.query only')),
    ];
  });
}

/** `root` is the path of the policy in the text. */
export function policyProblems(
  policy: unknown,
  parsed: ParsedText,
  root: readonly string[],
): readonly TextProblem[] {
  const decoded = decodePolicy(policy);
  if (decoded.ok) return [];
  return decoded.problems.map(({ path, message }) => {
    const place = [...root, ...pointerParts(path)];
    return { line: parsed.lineOf(place), message: `${place.join('.') || 'the policy'} ${message}` };
  });
}

function problemOf(issue: InputIssueView, schema: JsonObject, parsed: ParsedText): TextProblem {
  const parent = pointerParts(issue.path);
  const unknown = extraMemberOf(issue);
  if (unknown === undefined) {
    return { line: parsed.lineOf(parent), message: `${parent.join('.') || 'the config'} ${issue.message}` };
  }
  const place = [...parent, unknown];
  const suggestion = didYouMean(unknown, keysAt(schema, parent));
  return { line: parsed.lineOf(place), message: `unknown key ${place.join('.')}${suggestion}` };
}

/** Returns the keys that the schema knows at a place. */
function keysAt(root: JsonObject, place: readonly string[]): readonly string[] {
  let here: unknown = root;
  for (const key of place) {
    const { properties = {}, additionalProperties, items } = resolved(here, root);
    here = (properties as JsonObject)[key] ?? additionalProperties ?? items;
  }
  return Object.keys((resolved(here, root)['properties'] ?? {}) as object);
}

/** Follows a reference; of alternatives, the first one has the keys. */
function resolved(schema: unknown, root: JsonObject): JsonObject {
  if (!isRecord(schema)) return {};
  const { $ref: reference, anyOf } = schema;
  if (typeof reference === 'string') return resolved(valueAt(root, reference.slice(1)), root);
  return Array.isArray(anyOf) ? resolved(anyOf[0], root) : schema;
}
