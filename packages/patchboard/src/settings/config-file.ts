import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { didYouMean } from '../core/spelling.ts';
import { pointerParts } from '../core/json/json-pointer.ts';
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

const VALIDATORS = new WeakMap<object, ValidateFunction>();

/**
 * Compiles a schema once. The schema itself is checked by a test: compiling the meta-schema would take longer than compiling
 * it.
 */
function validatorOf(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  const known = VALIDATORS.get(schema);
  if (known !== undefined) return known;
  const made = new Ajv2020({
    allErrors: true,
    strict: false,
    verbose: true,
    meta: false,
    validateSchema: false,
  }).compile(schema);
  VALIDATORS.set(schema, made);
  return made;
}

/** Returns the problems that the schema of a file finds, or those of its upstreams. */
export function fileProblems(
  parsed: ParsedText,
  schema: Readonly<Record<string, unknown>>,
): readonly TextProblem[] {
  if (parsed.problems.length > 0) return parsed.problems;
  const validate = validatorOf(schema);
  if (!validate(parsed.value)) return (validate.errors ?? []).map((error) => problemOf(error, parsed));
  return upstreamProblems(parsed.value as UpstreamsConfig).map(({ place, message }) => ({
    line: parsed.lineOf(place),
    message: `${place.join('.')} ${message}`,
  }));
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

function problemOf(error: ErrorObject, parsed: ParsedText): TextProblem {
  const unknown = error.params['additionalProperty'] as string | undefined;
  const place = [...pointerParts(error.instancePath), ...(unknown === undefined ? [] : [unknown])];
  const name = place.join('.') || 'the config';
  const message =
    unknown === undefined
      ? `${name} ${messageOf(error)}`
      : `unknown key ${name}${didYouMean(unknown, knownIn(error))}`;
  return { line: parsed.lineOf(place), message };
}

function messageOf({ keyword, params, message = 'is not valid' }: ErrorObject): string {
  if (keyword !== 'enum') return message;
  return `must be one of ${(params['allowedValues'] as readonly unknown[]).join(', ')}`;
}

function knownIn({ parentSchema = {} }: ErrorObject): readonly string[] {
  return Object.keys((parentSchema['properties'] ?? {}) as object);
}
