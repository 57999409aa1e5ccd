interface AddCommand {
  /** The key of its description. */
  readonly words: string;
  readonly command: string;
  /** What follows the options. */
  readonly tail?: string;
}

/** The commands that add an upstream. */
export const ADD_COMMANDS: readonly AddCommand[] = [
  { words: 'upstreams.addUrl', command: 'mcp add github https://mcp.example.com/mcp' },
  {
    words: 'upstreams.addCommand',
    command: 'mcp add files',
    tail: ' -- npx -y @modelcontextprotocol/server-filesystem /srv/docs',
  },
  { words: 'upstreams.addOpenapi', command: 'openapi add shop ./shop.yaml' },
  { words: 'upstreams.addImport', command: 'mcp import ~/.cursor/mcp.json' },
];

/** The same in the config file. */
export const CONFIG_SAMPLE = `upstreams:
  github:
    url: https://mcp.example.com/mcp
    headers: { Authorization: "Bearer \${GITHUB_TOKEN}" }
  files:
    command: npx
    args: [-y, "@modelcontextprotocol/server-filesystem", /srv/docs]
openapi:
  shop:
    description: ./shop.yaml
    server: https://api.shop.example
    security: { apiKey: { value_env: SHOP_KEY } }`;
