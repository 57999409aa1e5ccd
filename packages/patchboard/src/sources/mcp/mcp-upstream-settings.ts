import type { UpstreamSettings } from '../../core/upstreams/upstream.ts';
import type { OAuthSettings } from '../shared/oauth-settings.ts';

/** An upstream MCP server, as configured, with all secrets filled in. */
export interface McpUpstreamSettings extends UpstreamSettings {
  readonly kind: 'mcp';
  readonly transport: HttpTransportSettings | StdioTransportSettings;
  /** Patterns of the upstream's tool names; one that begins with `!` excludes. */
  readonly tools: readonly string[];
  readonly protocol: 'auto' | 'legacy' | '2026-07-28';
  /** `ignore`: its readonly and idempotent hints are not used. Its destructive hint always is. */
  readonly hints: 'believe' | 'ignore';
  /** Whether its tools may request input from the caller. */
  readonly inputRequests: boolean;
  /** Whether its tools may request sampling from the caller. */
  readonly sampling: boolean;
}

export interface HttpTransportSettings {
  readonly kind: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: OAuthSettings | null;
}

export interface StdioTransportSettings {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** The variables that the process gets besides a minimal set. */
  readonly env: Readonly<Record<string, string>>;
  /** Null: the working directory of the server. */
  readonly cwd: string | null;
  /** Null: the command runs without a sandbox. */
  readonly sandbox: { readonly network: boolean; readonly readable: readonly string[] } | null;
}
