import { describe, expect, it } from 'vitest';
import { mcpClientConfig, type McpConnection } from './mcp-clients.ts';

const ENTRY = { command: '/bin/node', args: ['/pb.mjs', 'mcp'], env: { PATCHBOARD_KEY: 'pb_1' } };
const STDIO: McpConnection = { kind: 'stdio', ...ENTRY };
const HEADERS = { headers: { Authorization: 'Bearer pb_1' } };
const HTTP: McpConnection = { kind: 'http', url: 'http://127.0.0.1:8080/mcp', ...HEADERS };

describe('the configuration of', () => {
  it.each([
    ['claude-code', { mcpServers: { pb: { type: 'stdio', ...ENTRY } } }, '.mcp.json'],
    ['claude-desktop', { mcpServers: { pb: ENTRY } }, 'claude_desktop_config.json'],
    ['cursor', { mcpServers: { pb: ENTRY } }, '~/.cursor/mcp.json'],
    ['vscode', { servers: { pb: { type: 'stdio', ...ENTRY } } }, '.vscode/mcp.json'],
    ['gemini', { mcpServers: { pb: ENTRY } }, '~/.gemini/settings.json'],
  ] as const)('%s starts the bridge', (client, expected, file) => {
    const written = mcpClientConfig(client, STDIO);
    expect(JSON.parse(written?.text ?? '')).toEqual(expected);
    expect(written).toMatchObject({ config: expected, file: expect.stringContaining(file) as string });
  });

  it.each([
    ['claude-code', { mcpServers: { pb: { type: 'http', url: HTTP.url, ...HEADERS } } }],
    ['cursor', { mcpServers: { pb: { url: HTTP.url, ...HEADERS } } }],
    ['vscode', { servers: { pb: { type: 'http', url: HTTP.url, ...HEADERS } } }],
    ['gemini', { mcpServers: { pb: { httpUrl: HTTP.url, ...HEADERS } } }],
  ] as const)('%s names the URL', (client, expected) => {
    expect(JSON.parse(mcpClientConfig(client, HTTP)?.text ?? '')).toEqual(expected);
  });

  it('claude-desktop has no servers over HTTP', () => {
    expect(mcpClientConfig('claude-desktop', HTTP)).toBeNull();
  });

  it('codex is TOML, in which strings are escaped', () => {
    const windows: McpConnection = { ...STDIO, command: String.raw`C:\node "24"\node.exe` };
    expect(mcpClientConfig('codex', windows)?.text.split('\n')).toEqual([
      '[mcp_servers.pb]',
      String.raw`command = "C:\\node \"24\"\\node.exe"`,
      'args = ["/pb.mjs","mcp"]',
      'env = { PATCHBOARD_KEY = "pb_1" }',
    ]);
    expect(mcpClientConfig('codex', HTTP)?.text.split('\n')).toEqual([
      '[mcp_servers.pb]',
      'url = "http://127.0.0.1:8080/mcp"',
      'http_headers = { Authorization = "Bearer pb_1" }',
    ]);
  });

  it('claude-code has a command, whose words are quoted for the shell', () => {
    expect(mcpClientConfig('claude-code', HTTP)?.command).toBe(
      "claude mcp add --transport http pb http://127.0.0.1:8080/mcp --header 'Authorization: Bearer pb_1'",
    );
    const quoted: McpConnection = { ...STDIO, command: "/it's here/node" };
    expect(mcpClientConfig('claude-code', quoted)?.command).toBe(
      String.raw`claude mcp add --env PATCHBOARD_KEY=pb_1 --transport stdio pb -- '/it'\''s here/node' /pb.mjs mcp`,
    );
  });
});
