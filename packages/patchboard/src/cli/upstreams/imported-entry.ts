import { isRecord } from '@patchboard/wire/json';
import type { McpUpstreamConfig } from '../../settings/upstream-config.ts';

/** An MCP server of another program's file, or why it cannot be used. */
export type ImportedEntry =
  | { readonly ok: true; readonly config: McpUpstreamConfig; readonly ignored: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** Members that are read; others are reported as ignored. */
const READ: ReadonlySet<string> = new Set(
  'type transport url serverUrl httpUrl headers command args env cwd disabled enabled includeTools excludeTools name description'.split(
    ' ',
  ),
);
const TYPES: ReadonlySet<unknown> = new Set([
  'stdio',
  'http',
  'streamable-http',
  'streamableHttp',
  'streamable_http',
]);

/** Reads one entry of `mcpServers` or `servers`. */
export function readEntry(entry: unknown): ImportedEntry {
  if (!isRecord(entry)) return refused('it is no object');
  if (entry['disabled'] === true || entry['enabled'] === false) return refused('it is disabled in the file');
  const type = entry['type'] ?? entry['transport'];
  const url = entry['url'] ?? entry['serverUrl'] ?? entry['httpUrl'];
  if (type === 'sse')
    return refused(
      'its type sse is the transport of 2024, which is not supported; add its /mcp URL with patchboard mcp add',
    );
  if (type !== undefined && !TYPES.has(type)) return refused(`its type ${JSON.stringify(type)} is not known`);
  if (entry['envFile'] !== undefined)
    return refused('it reads variables from envFile; write them into env, then import it again');
  const isHttp = url !== undefined && entry['command'] === undefined;
  const config = isHttp ? httpConfig(url, entry) : stdioConfig(entry);
  if (typeof config === 'string') return refused(config);
  const ignored = Object.keys(entry).filter((key) => !READ.has(key));
  return { ok: true, config: { ...config, ...toolsOf(entry) }, ignored };
}

type Entry = Readonly<Record<string, unknown>>;

/** Returns a text that says what is wrong if the entry is not usable. */
function httpConfig(url: unknown, entry: Entry): McpUpstreamConfig | string {
  if (typeof url !== 'string' || !/^https?:\/\//i.test(url)) return 'its url is no http or https URL';
  const headers = textsIn(entry, 'headers');
  if (typeof headers === 'string') return headers;
  return { url, ...(headers === null ? {} : { headers }) };
}

function stdioConfig(entry: Entry): McpUpstreamConfig | string {
  const { command, args = [], cwd } = entry;
  if (typeof command !== 'string' || command === '') return 'it has neither a command nor a url';
  if (!Array.isArray(args) || !args.every((one) => typeof one === 'string'))
    return 'its args are no list of texts';
  if (cwd !== undefined && typeof cwd !== 'string') return 'its cwd is no text';
  const env = textsIn(entry, 'env');
  if (typeof env === 'string') return env;
  return {
    command,
    ...(args.length === 0 ? {} : { args: args as string[] }),
    ...(env === null ? {} : { env }),
    ...(cwd === undefined || cwd === '' ? {} : { cwd }),
  };
}

/** Null: there are none. Numbers and booleans are texts to an environment and to headers. */
function textsIn(entry: Entry, key: 'env' | 'headers'): Readonly<Record<string, string>> | null | string {
  const value = entry[key];
  if (value === undefined || value === null) return null;
  const problem = `its ${key} is no object of texts`;
  if (!isRecord(value)) return problem;
  const texts: [string, string][] = [];
  for (const [name, one] of Object.entries(value)) {
    if (!['string', 'number', 'boolean'].includes(typeof one)) return problem;
    texts.push([name, String(one)]);
  }
  return texts.length === 0 ? null : Object.fromEntries(texts);
}

function toolsOf({ includeTools, excludeTools }: Entry): Pick<McpUpstreamConfig, 'tools'> {
  const list = (value: unknown): string[] =>
    Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
  const included = list(includeTools);
  const excluded = list(excludeTools).map((name) => `!${name}`);
  if (included.length + excluded.length === 0) return {};
  return { tools: [...(included.length === 0 ? ['*'] : included), ...excluded] };
}

function refused(reason: string): ImportedEntry {
  return { ok: false, reason };
}
