/** The server that a client connects to. */
export interface Target {
  /** Base URL of the server. */
  readonly url: string;
  readonly mcpUrl: string;
  readonly dataFolder: string;
  /** The command that a client starts for an MCP server over stdio. */
  readonly bridge: {
    readonly command: string;
    readonly args: string[];
    readonly env: Record<string, string>;
  };
}

/** One run of a client. It passes if it resolves. */
export interface ClientRun {
  readonly era: 'legacy' | 'modern' | 'auto';
  readonly transport: 'http' | 'stdio';
  /** What the client does, for the report. */
  readonly does: string;
  run(target: Target): Promise<void>;
}

/** What a file in `clients/` exports. */
export interface Client {
  /** The npm package that is tested. */
  readonly package: string;
  readonly runs: readonly ClientRun[];
}
