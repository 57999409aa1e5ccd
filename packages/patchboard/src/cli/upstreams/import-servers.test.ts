import { describe, expect, it } from 'vitest';
import { parseCommentedJson } from './commented-json.ts';
import { planImport, type ImportPlan } from './import-servers.ts';

/** As Claude Desktop and Cursor write it. */
const CLAUDE_DESKTOP = `{
  "mcpServers": {
    "GitHub Tools": {
      "command": "npx",
      "args": ["-y", "@example/server-github", "--api-key", "key-in-the-arguments", "--token=token-in-the-arguments"],
      "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_secret-of-github", "LOG_LEVEL": "debug" }
    },
    "remote": {
      "url": "https://mcp.example.com/mcp?api_key=key-in-the-url&region=eu",
      "headers": { "Authorization": "Bearer secret-of-remote", "X-Team": "a" },
      "alwaysAllow": ["search"]
    },
    "old": { "command": "node", "args": ["old.js"], "disabled": true }
  }
}`;

/** As VS Code writes it, with comments and trailing commas. */
const VS_CODE = `{
  // the servers of this workspace
  "inputs": [{ "type": "promptString", "id": "perplexity-key", "password": true }],
  "servers": {
    "perplexity": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "server-perplexity", "--root", "\${userHome}/docs"],
      "env": { "PERPLEXITY_API_KEY": "\${input:perplexity-key}", "EDITOR": "\${env:EDITOR}" }, /* asked once */
    },
    "fetch": { "type": "http", "url": "http://127.0.0.1:3000/mcp" },
    "events": { "type": "sse", "url": "https://events.example.com/sse" },
    "local": { "type": "stdio", "command": "node", "args": ["\${workspaceFolder}/server.js"] },
    "variables": { "type": "stdio", "command": "node", "envFile": ".env" },
  },
}`;

function plan(text: string, asVariables = false, taken: Record<string, string> = {}): ImportPlan | null {
  return planImport(parseCommentedJson(text), { asVariables, taken: new Map(Object.entries(taken)) });
}

describe('import of the file of an MCP client', () => {
  it('reads mcpServers, with the values as they are', () => {
    expect(plan(CLAUDE_DESKTOP)).toEqual({
      servers: [
        {
          from: 'GitHub Tools',
          name: 'github-tools',
          config: {
            command: 'npx',
            args: [
              '-y',
              '@example/server-github',
              '--api-key',
              'key-in-the-arguments',
              '--token=token-in-the-arguments',
            ],
            env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'ghp_secret-of-github', LOG_LEVEL: 'debug' },
          },
          ignored: [],
        },
        {
          from: 'remote',
          name: 'remote',
          config: {
            url: 'https://mcp.example.com/mcp?api_key=key-in-the-url&region=eu',
            headers: { Authorization: 'Bearer secret-of-remote', 'X-Team': 'a' },
          },
          ignored: ['alwaysAllow'],
        },
      ],
      skipped: [{ from: 'old', reason: 'it is disabled in the file' }],
      variables: [],
    });
  });

  it('turns secrets into variables if that is wanted', () => {
    const { servers = [], variables } = plan(CLAUDE_DESKTOP, true) ?? {};
    expect(servers.map(({ config }) => config)).toEqual([
      {
        command: 'npx',
        args: [
          '-y',
          '@example/server-github',
          '--api-key',
          '${GITHUB_TOOLS_API_KEY}',
          '--token=${GITHUB_TOOLS_TOKEN}',
        ],
        env: { GITHUB_PERSONAL_ACCESS_TOKEN: '${GITHUB_PERSONAL_ACCESS_TOKEN}', LOG_LEVEL: 'debug' },
      },
      {
        url: 'https://mcp.example.com/mcp?api_key=${REMOTE_API_KEY}&region=eu',
        headers: { Authorization: 'Bearer ${REMOTE_AUTHORIZATION}', 'X-Team': 'a' },
      },
    ]);
    expect(variables).toEqual([
      'GITHUB_PERSONAL_ACCESS_TOKEN',
      'GITHUB_TOOLS_API_KEY',
      'GITHUB_TOOLS_TOKEN',
      'REMOTE_API_KEY',
      'REMOTE_AUTHORIZATION',
    ]);
    expect(JSON.stringify(servers)).not.toMatch(/secret-of|key-in|token-in/);
  });

  it('gives two secrets of one name two variables, and one secret one', () => {
    const text = JSON.stringify({
      mcpServers: {
        a: { command: 'a', env: { API_KEY: 'one' } },
        b: { command: 'b', env: { API_KEY: 'two' } },
        c: { command: 'c', env: { API_KEY: 'one' } },
      },
    });
    expect(plan(text, true)?.servers.map(({ config }) => config.env)).toEqual([
      { API_KEY: '${API_KEY}' },
      { API_KEY: '${B_API_KEY}' },
      { API_KEY: '${API_KEY}' },
    ]);
  });

  it('reads servers of VS Code with comments, inputs and variables', () => {
    const read = plan(VS_CODE);
    expect(read).toEqual({
      servers: [
        {
          from: 'perplexity',
          name: 'perplexity',
          config: {
            command: 'npx',
            args: ['-y', 'server-perplexity', '--root', '${HOME}/docs'],
            env: { PERPLEXITY_API_KEY: '${PERPLEXITY_KEY}', EDITOR: '${EDITOR}' },
          },
          ignored: [],
        },
        { from: 'fetch', name: 'fetch', config: { url: 'http://127.0.0.1:3000/mcp' }, ignored: [] },
      ],
      skipped: [
        {
          from: 'events',
          reason: expect.stringContaining('its type sse is the transport of 2024') as string,
        },
        { from: 'local', reason: expect.stringContaining('it uses ${workspaceFolder}') as string },
        { from: 'variables', reason: expect.stringContaining('it reads variables from envFile') as string },
      ],
      variables: ['EDITOR', 'HOME', 'PERPLEXITY_KEY'],
    });
    expect(plan(`{"mcp": {"servers": {"a": {"command": "b"}}}}`)?.servers).toHaveLength(1);
  });

  it('reads the members of other programs', () => {
    const text = JSON.stringify({
      mcpServers: {
        windsurf: { serverUrl: 'https://a.example/mcp' },
        gemini: {
          httpUrl: 'https://b.example/mcp',
          includeTools: ['search'],
          excludeTools: ['delete'],
          timeout: 5,
        },
        cline: { type: 'streamableHttp', url: 'https://c.example/mcp', enabled: false },
      },
    });
    expect(plan(text)).toEqual({
      servers: [
        { from: 'windsurf', name: 'windsurf', config: { url: 'https://a.example/mcp' }, ignored: [] },
        {
          from: 'gemini',
          name: 'gemini',
          config: { url: 'https://b.example/mcp', tools: ['search', '!delete'] },
          ignored: ['timeout'],
        },
      ],
      skipped: [{ from: 'cline', reason: 'it is disabled in the file' }],
      variables: [],
    });
  });

  it.each([
    [{ command: 5 }, 'it has neither a command nor a url'],
    [{}, 'it has neither a command nor a url'],
    [[], 'it is no object'],
    [{ command: 'a', args: 'b' }, 'its args are no list of texts'],
    [{ command: 'a', env: { A: {} } }, 'its env is no object of texts'],
    [{ url: 'ws://a' }, 'its url is no http or https URL'],
    [{ type: 'websocket', url: 'ws://a' }, 'its type "websocket" is not known'],
    [
      { command: 'a', args: ['${A:-b}'] },
      'it uses ${A:-b}, which has no counterpart; replace it in the file',
    ],
  ])('%j cannot be imported', (entry, reason) => {
    expect(plan(JSON.stringify({ mcpServers: { one: entry } }))).toEqual({
      servers: [],
      skipped: [{ from: 'one', reason }],
      variables: [],
    });
  });

  it('makes names valid, and refuses those that are in use', () => {
    const names = [
      'My Server!',
      'my server?',
      '@scope/a-very-long-name-of-a-server',
      '???',
      'patchboard',
      'taken',
    ];
    const text = JSON.stringify({
      mcpServers: Object.fromEntries(names.map((name) => [name, { command: 'a' }])),
    });
    const read = plan(text, false, { taken: 'upstreams.json' });
    expect(read?.servers.map(({ name }) => name)).toEqual(['my-server', 'scope-a-very-long-name-o']);
    expect(read?.skipped).toEqual([
      {
        from: 'my server?',
        reason: 'it gets the name my-server, as My Server! does; rename one in the file',
      },
      { from: '???', reason: 'its name has no letter or digit; rename it in the file' },
      { from: 'patchboard', reason: 'patchboard is a reserved name; rename it in the file' },
      { from: 'taken', reason: 'the name taken is in use: upstreams.json' },
    ]);
  });

  it('is none for other files', () => {
    for (const text of ['{}', '[]', '{"mcpServers": []}', '{"servers": 5}']) expect(plan(text)).toBeNull();
    expect(() => plan('{\n"mcpServers": nonsense }')).toThrow(SyntaxError);
  });

  it('keeps text in strings that looks like a comment or a comma', () => {
    expect(parseCommentedJson('{"a": "// no /* comment */ ,]", "b": "\\\\" /* , */ , } // end')).toEqual({
      a: '// no /* comment */ ,]',
      b: '\\',
    });
  });
});
