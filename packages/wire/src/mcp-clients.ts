import { shellWord } from './shell-words.ts';

/** How an MCP client reaches the server: through the bridge, which it starts, or over HTTP. */
export type McpConnection =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'http'; readonly url: string; readonly headers?: Readonly<Record<string, string>> };

/** The configuration of one program. */
export interface McpClientConfig {
  /** The file that the text belongs in. */
  readonly file: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** The text to paste. */
  readonly text: string;
  /** A command that has the same effect, if the program has one. */
  readonly command?: string;
}

/** The name under which the clients list the server. A short one leaves room for the names of tools. */
const SERVER_NAME = 'pb';

export const MCP_CLIENTS = ['claude-code', 'claude-desktop', 'cursor', 'vscode', 'gemini', 'codex'] as const;

export type McpClientName = (typeof MCP_CLIENTS)[number];

const WRITERS: Readonly<Record<McpClientName, (connection: McpConnection) => McpClientConfig | null>> = {
  'claude-code': (connection) => ({
    ...asJson('.mcp.json of a project', 'mcpServers', typed(connection)),
    command: claudeCommand(connection),
  }),
  'claude-desktop': (connection) => {
    if (connection.kind === 'http') return null;
    return asJson(
      'claude_desktop_config.json (Settings, Developer, Edit Config)',
      'mcpServers',
      untyped(connection),
    );
  },
  cursor: (connection) => asJson('~/.cursor/mcp.json', 'mcpServers', untyped(connection)),
  vscode: (connection) => asJson('.vscode/mcp.json of a workspace', 'servers', typed(connection)),
  gemini: (connection) => asJson('~/.gemini/settings.json', 'mcpServers', geminiEntry(connection)),
  codex: (connection) => asToml('~/.codex/config.toml', connection),
};

/** Returns null if the program has no servers over HTTP in its configuration. */
export function mcpClientConfig(client: McpClientName, connection: McpConnection): McpClientConfig | null {
  return WRITERS[client](connection);
}

function untyped(connection: McpConnection): Record<string, unknown> {
  const { kind: _kind, ...entry } = connection;
  return entry;
}

function typed(connection: McpConnection): Record<string, unknown> {
  return { type: connection.kind, ...untyped(connection) };
}

/** In Gemini's settings `url` means the transport of 2024, with server-sent events. */
function geminiEntry(connection: McpConnection): Record<string, unknown> {
  if (connection.kind === 'stdio') return untyped(connection);
  const { kind: _kind, url, ...headers } = connection;
  return { httpUrl: url, ...headers };
}

function asJson(file: string, member: string, entry: Record<string, unknown>): McpClientConfig {
  const config = { [member]: { [SERVER_NAME]: entry } };
  return { file, config, text: JSON.stringify(config, null, 2) };
}

function asToml(file: string, connection: McpConnection): McpClientConfig {
  const { headers, ...others } = untyped(connection);
  const entry = { ...others, ...(headers === undefined ? {} : { http_headers: headers }) };
  const lines = Object.entries(entry).map(([key, value]) => `${key} = ${tomlValue(value)}`);
  return {
    file,
    config: { mcp_servers: { [SERVER_NAME]: entry } },
    text: [`[mcp_servers.${SERVER_NAME}]`, ...lines].join('\n'),
  };
}

/** Strings, arrays of strings and tables of strings: a JSON string is a basic string of TOML too. */
function tomlValue(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, inner]) => `${key} = ${JSON.stringify(inner)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** `--env` takes all words up to the next option, so that `--transport` must follow it. */
function claudeCommand(connection: McpConnection): string {
  const words = ['claude', 'mcp', 'add'];
  if (connection.kind === 'http') {
    words.push('--transport', 'http', SERVER_NAME, connection.url);
    for (const [name, value] of Object.entries(connection.headers ?? {}))
      words.push('--header', `${name}: ${value}`);
  } else {
    for (const [name, value] of Object.entries(connection.env)) words.push('--env', `${name}=${value}`);
    words.push('--transport', 'stdio', SERVER_NAME, '--', connection.command, ...connection.args);
  }
  return words.map(shellWord).join(' ');
}
