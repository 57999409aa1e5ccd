import type { RejectedTool } from './internal.ts';
import type { ToolAnnotations } from './views.ts';

/** All kinds of upstreams. Each is a source of tools too. */
export const UPSTREAM_KINDS = ['mcp', 'openapi'] as const;

/** `mcp`: a server of the Model Context Protocol. `openapi`: an HTTP API with an OpenAPI description. */
export type UpstreamKind = (typeof UPSTREAM_KINDS)[number];

/** `failed`: it is not tried again until an operator restarts it. */
export type UpstreamStateName = 'connecting' | 'connected' | 'disconnected' | 'failed';

/** One row of `GET /v1/upstreams`. */
export interface UpstreamView {
  readonly name: string;
  readonly kind: UpstreamKind;
  readonly state: UpstreamStateName;
  /** The negotiated version of MCP, or the version of OpenAPI; null: not known yet. */
  readonly protocol: string | null;
  readonly server: { readonly name: string; readonly version: string } | null;
  /** An origin or the name of a command, without secrets. */
  readonly address: string;
  /** The name of its pack, for `tenants.*.packs`. */
  readonly pack: string;
  readonly tenants: readonly string[] | null;
  readonly on_change: 'ask' | 'run' | 'refuse';
  readonly concurrency: number;
  /** Whether its process runs in a sandbox; null: it has no process. */
  readonly sandboxed: boolean | null;
  readonly tools: readonly UpstreamToolView[];
  /** Tools that cannot be offered, with the reason. */
  readonly rejected: readonly RejectedTool[];
  readonly in_flight: number;
  readonly latency_ms: { readonly median: number; readonly p95: number } | null;
  readonly last_error: { readonly message: string; readonly at: string } | null;
  readonly connected_at: string | null;
  readonly next_attempt_at: string | null;
}

export interface UpstreamToolView {
  readonly name: string;
  readonly version: string;
  readonly annotations: ToolAnnotations;
  /** Set if the contract differs from the accepted one. */
  readonly change?: ContractChangeView;
}

/** A contract that differs from the accepted one. */
export interface ContractChangeView {
  /** The accepted version. */
  readonly from: string;
  readonly since: string;
  readonly differences: readonly ContractDifference[];
}

/** A member of the contract that was added (no `before`), removed (no `after`) or replaced. */
export interface ContractDifference {
  /** A JSON pointer, such as `/inputSchema/properties/path`. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** `POST /v1/upstreams/:name/accept`. */
export interface AcceptContractBody {
  /** The version to accept, by the name of the tool: a contract that changed again is not accepted unseen. */
  readonly versions: Readonly<Record<string, string>>;
}

export interface AcceptContractView {
  readonly accepted: readonly string[];
}

/** `POST /v1/upstreams/reload`. */
export interface ReloadUpstreamsView {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Those whose settings changed: they are connected again. */
  readonly restarted: readonly string[];
}
