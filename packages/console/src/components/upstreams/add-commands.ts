interface AddCommand {
  /** The key of its description. */
  readonly words: string;
  readonly command: string;
}

/** The commands that add an upstream. They write to the data folder, where they find the server: they take no URL of it. */
export const ADD_COMMANDS: readonly AddCommand[] = [
  { words: 'upstreams.addUrl', command: 'npx patchboard mcp add github https://mcp.example.com/mcp' },
  {
    words: 'upstreams.addCommand',
    command: 'npx patchboard mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/docs',
  },
  { words: 'upstreams.addOpenapi', command: 'npx patchboard openapi add shop ./shop.yaml' },
  { words: 'upstreams.addImport', command: 'npx patchboard mcp import ~/.cursor/mcp.json' },
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
