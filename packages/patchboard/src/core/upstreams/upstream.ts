import type {
  JsonSchema,
  RejectedTool,
  ToolAnnotations,
  UpstreamKind,
  UpstreamStateName,
} from '@patchboard/wire';
import type { Failure } from '../failures.ts';
import type { ServerTool, ToolContext } from '../tools/server-tool.ts';

/** The settings that every kind of upstream has. */
export interface UpstreamSettings {
  /** The prefix of its tools. */
  readonly name: string;
  readonly kind: UpstreamKind;
  /** The tenants that have its tools; null: every tenant that names no packs or names its pack. */
  readonly tenants: readonly string[] | null;
  /** What a changed contract means for calls until an operator accepts it: `ask` for approval, `run`, or `refuse`. */
  readonly onChange: OnChange;
  /** The most calls that run on it at once. */
  readonly concurrency: number;
  /** The time limit of its tools. */
  readonly timeoutMs: number;
}

export type OnChange = 'ask' | 'run' | 'refuse';

/** A tool of an upstream as it is listed and stored, without the code that calls it. */
export interface UpstreamTool {
  /** `<upstream>.<tool>`. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema | null;
  readonly annotations: ToolAnnotations;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly task?: NonNullable<ServerTool['task']>;
  /** The JSON value that `execute` needs to call the tool. It is stored with the list and part of the contract. */
  readonly target: unknown;
  /**
   * The instances of the Patchboard servers that the tool passes through, the farthest first. A server recognises by it the tools
   * that come from itself. Not part of the contract: each start has another instance. Absent: it passes through none.
   */
  readonly via?: readonly string[];
}

export interface UpstreamStatus {
  readonly state: UpstreamStateName;
  /** The protocol and its version, such as `2026-07-28` or `OpenAPI 3.1`; null: not known yet. */
  readonly protocol: string | null;
  /** The name and version that the upstream declares; null: not known yet. */
  readonly server: { readonly name: string; readonly version: string } | null;
  /** Where it is: an origin or the name of a command. It contains no secret. */
  readonly address: string;
  /** Why it is not connected, or the last error since it is. */
  readonly lastError: { readonly message: string; readonly at: number } | null;
  readonly connectedAt: number | null;
  /** When the next attempt to connect begins; null: none is planned. */
  readonly nextAttemptAt: number | null;
  /** Calls that wait for a response. */
  readonly inFlight: number;
  /** Whether its process runs in a sandbox. Absent: it has no process. */
  readonly isSandboxed?: boolean;
  /** Of the newest calls, in milliseconds; null: there were none. */
  readonly latencyMs: { readonly median: number; readonly p95: number } | null;
}

/** An upstream MCP server or HTTP API. `UpstreamService` registers its tools. */
export interface Upstream {
  readonly settings: UpstreamSettings;
  /** Begins to connect, in the background. */
  start(listener: UpstreamListener): void;
  status(): UpstreamStatus;
  isOnline(): boolean;
  /** Returns the result. Throws `ToolFailure`, whose outcome says whether the upstream may have begun. */
  execute(tool: UpstreamTool, args: unknown, context: ToolContext): unknown;
  /** See `ServerTool.abandoned`. Absent: nothing of a call that waits for input is left at the upstream. */
  abandoned?(carried: unknown): void;
  /** Ends the connection, forgets failures and connects again. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Receives what an upstream reports. */
export interface UpstreamListener {
  /** The upstream was listed: these are all its tools, and those that cannot be offered. */
  listed(tools: readonly UpstreamTool[], rejected: readonly RejectedTool[]): void;
  /** The state changed. */
  stateChanged(): void;
}

/** Reads the configured upstreams again, and applies what changed. If a setting is invalid, nothing changes. */
export interface UpstreamReloader {
  reload(): Promise<UpstreamReload | Failure>;
}

/** The names of upstreams that a reload changed. */
export interface UpstreamReload {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Those with other settings: they connect again. */
  readonly restarted: readonly string[];
}
