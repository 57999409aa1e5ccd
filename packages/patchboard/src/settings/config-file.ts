import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { didYouMean } from '../core/spelling.ts';
import { pointerParts } from '../core/json/json-pointer.ts';
import { decodePolicy } from '../core/access/policy/document.ts';
import { ESSENTIAL_TOOLS } from '../packs/essentials/tool-names.ts';
import { HERITAGE_TOOLS } from '../packs/heritage/names.ts';
import { CONFIG_SCHEMA, type ConfigFile, type ToolConfig } from './config-schema.ts';
import { parseText, type ParsedText, type TextProblem } from './yaml-text.ts';
import { fileProblem } from './file-problem.ts';

/** Thrown for an invalid setting. The message is one line for the operator. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

/** Reads YAML or JSON. Throws a `ConfigError` that names file, line and key. */
export function readConfigFile(file: string): ConfigFile {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`cannot read ${file}: ${fileProblem(error)}`);
  }
  return parseConfig(text, file);
}

export function parseConfig(text: string, file: string): ConfigFile {
  const parsed = parseText(text);
  const [first] = configProblems(parsed);
  if (first === undefined) return parsed.value as ConfigFile;
  throw new ConfigError(`${file}:${first.line}: ${first.message}`);
}

/** Returns all problems of a config, including those of its policy. */
export function configProblems(parsed: ParsedText): readonly TextProblem[] {
  if (parsed.problems.length > 0) return parsed.problems;
  const validate = configValidator();
  if (!validate(parsed.value)) return (validate.errors ?? []).map((error) => problemOf(error, parsed));
  const file = parsed.value as ConfigFile;
  const { policy } = file;
  return [
    ...toolProblems(file, parsed),
    ...(policy === undefined ? [] : policyProblems(policy, parsed, ['policy'])),
  ];
}

let compiled: ValidateFunction | null = null;

/** The schema itself is checked by a test: compiling the meta-schema would take longer than compiling it. */
function configValidator(): ValidateFunction {
  compiled ??= new Ajv2020({
    allErrors: true,
    strict: false,
    verbose: true,
    meta: false,
    validateSchema: false,
  }).compile(CONFIG_SCHEMA);
  return compiled;
}

const SHIPPED_TOOLS: readonly string[] = [...ESSENTIAL_TOOLS, ...HERITAGE_TOOLS];

/** A rate may be set for any tool; all other keys only for tools that this server runs. */
function toolProblems({ tools = {}, packs = [] }: ConfigFile, parsed: ParsedText): TextProblem[] {
  // The tools of these packs are not known before the packs are loaded; the server checks again at startup.
  const hasOwnPacks = packs.length > 0;
  return Object.entries(tools).flatMap(([name, tool]) => {
    const problemAt = (key: keyof ToolConfig, message: string): TextProblem[] => {
      const place = ['tools', name, key];
      return tool[key] === undefined
        ? []
        : [{ line: parsed.lineOf(place), message: `${place.join('.')} ${message}` }];
    };
    const isOurs = hasOwnPacks || SHIPPED_TOOLS.includes(name);
    return [
      ...(isOurs
        ? []
        : problemAt(
            'timeout_ms',
            `is for tools of this server, which are ${SHIPPED_TOOLS.join(', ')}; a client gives its tools their time limit when it registers them`,
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
      ? `${name} ${error.message ?? 'is not valid'}`
      : `unknown key ${name}${didYouMean(unknown, knownIn(error))}`;
  return { line: parsed.lineOf(place), message };
}

function knownIn({ parentSchema = {} }: ErrorObject): readonly string[] {
  return Object.keys((parentSchema['properties'] ?? {}) as object);
}
