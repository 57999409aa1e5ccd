/** Settings of the MCP server. */
export interface McpSettings {
  /** How long `tools/call` waits for the result before it returns a receipt. */
  readonly holdMs: number;
  /** How long `tools/call` of a client that supports tasks waits before it returns a task. */
  readonly taskAfterMs: number;
  /** The names under which tools are listed. Both can be called. */
  readonly names: 'wire' | 'canonical';
  /** How long ended calls are kept; null: without limit. */
  readonly keepCallsMs: number | null;
}

export const DEFAULT_MCP_SETTINGS: McpSettings = {
  holdMs: 50_000,
  taskAfterMs: 2000,
  names: 'wire',
  keepCallsMs: null,
};

/** Upper bound on `?hold=`, in seconds. */
export const MAX_HOLD_SECONDS = 3600;
