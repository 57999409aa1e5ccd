import { resolve } from 'node:path';

export const USAGE = `Usage: patchboard mcp [options]

serve MCP over stdin and stdout, forwarded to a running server

Options:
  --url <url>       URL of the server (PATCHBOARD_URL)
  --tools <list>    offer only these tools, such as weather.*,github.*
                    (PATCHBOARD_MCP_TOOLS)
  --hold <seconds>  how long a call may take before the client gets a receipt
  -h, --help        display help for command
`;

export class UsageError extends Error {}

/**
 * @typedef {object} Options
 * @property {string | null} url Base URL of the server; null to search for one.
 * @property {string} defaultUrl
 * @property {string} dataFolder
 * @property {string | null} key
 * @property {string} query The query of `/mcp`: empty, or with the leading `?`.
 */

/**
 * Returns null if the help is requested.
 * @returns {Options | null}
 */
export function optionsFrom(argv, env) {
  const given = { url: set(env.PATCHBOARD_URL), tools: set(env.PATCHBOARD_MCP_TOOLS), hold: set(undefined) };
  for (let at = 0; at < argv.length; at += 1) {
    const [name, ...rest] = argv[at].split('=');
    if (name === '--help' || name === '-h') return null;
    if (!['--url', '--tools', '--hold'].includes(name)) throw new UsageError(`unknown option '${argv[at]}'`);
    const value = rest.length > 0 ? rest.join('=') : argv[(at += 1)];
    if (value === undefined || value === '') throw new UsageError(`option '${name}' needs a value`);
    given[name.slice(2)] = value;
  }
  if (given.hold !== null && !/^[1-9]\d*$/.test(given.hold))
    throw new UsageError(`--hold must be a whole number of seconds, not "${given.hold}"`);
  return {
    key: agentKey(set(env.PATCHBOARD_KEY), env.PATCHBOARD_OPERATOR_TOKEN),
    url: given.url === null ? null : baseUrl(given.url),
    defaultUrl: `http://127.0.0.1:${set(env.PORT) ?? '8080'}`,
    dataFolder: resolve(set(env.PATCHBOARD_DATA) ?? '.patchboard'),
    query: queryOf(given),
  };
}

/**
 * Treats an empty variable as not set.
 * @param {string | undefined} value
 */
export function set(value) {
  return value === undefined || value === '' ? null : value;
}

/** Refuses the operator token: an operator cannot approve calls that were made as operator. */
function agentKey(key, operatorTokens = '') {
  const tokens = operatorTokens.split(',').map((token) => token.trim());
  if (key === null || !(key.startsWith('op_') || tokens.includes(key))) return key;
  throw new UsageError(
    'PATCHBOARD_KEY is the operator token; set it to the key of an agent: patchboard keys create --kind agent --name NAME',
  );
}

function baseUrl(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    throw new UsageError(`"${text}" is not a URL`);
  }
  if (!/^https?:$/.test(url.protocol)) throw new UsageError(`"${text}" is not an http or https URL`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function queryOf({ tools, hold }) {
  const query = new URLSearchParams();
  if (tools !== null) query.set('tools', tools);
  if (hold !== null) query.set('hold', hold);
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
