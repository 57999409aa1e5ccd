import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InputKind } from '@patchboard/wire';
import type { AgentHost } from '../agent/agent-host.ts';
import type { BoardResources } from './board-resources.ts';
import type { BoardUpstreams } from './board-upstreams.ts';
import type { BoardStore } from './stores.ts';
import type { WrittenPolicy } from '../core/access/policy/written-policy.ts';
import type { AgentHooks } from '../sdk/agent-hooks.ts';
import type { KeyKind } from '../core/access/key-index.ts';
import type { Limits } from '../core/limits.ts';
import type { Log } from '../core/ports.ts';
import type { RegisteredTool } from '../core/tools/registered-tool.ts';
import type { ResourceSet } from '../core/resources/resource.ts';
import type { Scope } from '../core/access/scopes.ts';
import type { ListeningApis } from '../wiring/apis.ts';
import type { HttpOptions } from '../wiring/mounted-apis.ts';
import type { DecideOptions } from '../sdk/decide-options.ts';
import type { ResourceRegistry } from '../sdk/resource-registry.ts';
import type { OnInputRequest, RespondInputOptions } from '../sdk/tool-call-input.ts';
import type { ToolCallRecord } from '../sdk/tool-call-record.ts';
import type { AnyTool } from '../sdk/tool-instance.ts';
import type { ToolRegistry } from '../sdk/tool-registry.ts';
import type { UpstreamsConfig } from '../settings/upstream-config.ts';
import type { WorkspaceOptions } from '../wiring/sandbox-setup.ts';

export interface BoardOptions {
  /** Tools, or a registry whose later changes apply to the board too. */
  readonly tools?: readonly AnyTool[] | ToolRegistry;
  /** Resources, resource templates and prompts, or a registry whose later changes apply to the board too. */
  readonly resources?: ResourceSet | ResourceRegistry;
  /** Default: `memory()`. */
  readonly store?: BoardStore;
  /** A policy document, as in the config. Default: tools annotated as risky require approval, all others run. */
  readonly policy?: WrittenPolicy;
  readonly hooks?: AgentHooks | readonly AgentHooks[];
  readonly limits?: Partial<Limits>;
  /**
   * Number of ended calls to keep; the oldest are dropped first. An idempotency key is dropped with its call: the same key
   * then creates a new call. Default with `memory()`: 10,000; ledger rows, runs and journals are bounded along with them.
   * Default with `sqlite(folder)` and `postgres(url)`: all calls; with a number, about that many calls and all ledger rows.
   */
  readonly retain?: number;
  /** Names of argument members that are removed from the stored arguments when the call has ended. */
  readonly redact?: readonly string[];
  /** Adds the workspace tools and a sandbox for every run. Default: neither. */
  readonly workspace?: WorkspaceOptions;
  /** MCP servers whose tools the board offers, by name, as `upstreams` in the config file. */
  readonly upstreams?: NonNullable<UpstreamsConfig['upstreams']>;
  /** HTTP APIs whose operations the board offers as tools, by name, as `openapi` in the config file. */
  readonly openapi?: NonNullable<UpstreamsConfig['openapi']>;
  /** Default: nothing is logged. */
  readonly log?: Log;
  /** Options of the network APIs (`listen`, `handler`, `fetch`). */
  readonly http?: HttpOptions;
}

/** Options of a new key. */
export interface BoardKeyOptions {
  readonly kind: KeyKind;
  readonly name: string;
  /** Default: the scopes of the kind. */
  readonly scopes?: readonly Scope[];
  /** Epoch milliseconds. Default: never. */
  readonly expiresAt?: number;
}

export interface InvokeOptions {
  /** Default: one run per agent for the lifetime of the board. */
  readonly runId?: string;
  /** The agent that makes the call, for the policy. Default: `embedded`. */
  readonly agentId?: string;
  readonly idempotencyKey?: string;
  /** Called with each input request of the tool. Without it, a tool that asks fails with `input_unavailable`. */
  readonly onInputRequest?: OnInputRequest;
  /**
   * True: the call may wait for `board.respondInput` to a form or a link; a list: to requests of these kinds. Default: whether
   * there is an `onInputRequest`.
   */
  readonly acceptsInput?: boolean | readonly InputKind[];
}

export interface CallOptions extends InvokeOptions {
  /** Cancels the call when aborted. If already aborted, `call` throws and records nothing. */
  readonly signal?: AbortSignal;
}

export interface ToolFilter {
  /** Only tools with this tag in `metadata.tags`. */
  readonly tag?: string;
  /** Only tools that the policy shows to this agent. Default: `embedded`. */
  readonly agentId?: string;
}

/** The engine embedded in your process. Calls go through the same steps as over the network, which is optional. */
export interface Patchboard {
  /** The services that an `Agent` needs. */
  readonly host: AgentHost;
  /** The registry of its tools. Later changes apply at once. */
  readonly registry: ToolRegistry;
  readonly resources: BoardResources;
  readonly upstreams: BoardUpstreams;
  /** Returns the tools that the agent may currently call. */
  tools(filter?: ToolFilter): readonly RegisteredTool[];
  /**
   * Resolves when the call has ended, whether it succeeded or failed, or when the board begins to close: then the call may
   * still be open. Throws if it was refused before it was recorded.
   */
  call(name: string, args?: unknown, options?: CallOptions): Promise<ToolCallRecord>;
  /** Resolves when the call is recorded durably. */
  invoke(name: string, args?: unknown, options?: InvokeOptions): Promise<ToolCallRecord>;
  /** Resolves with undefined if the call does not exist or was dropped (`retain`). */
  get(id: string): Promise<ToolCallRecord | undefined>;
  /** Resolves with the call when it has ended, or when the board begins to close: then it may still be open. */
  wait(id: string): Promise<ToolCallRecord>;
  cancel(id: string): Promise<ToolCallRecord>;
  /** Approves or denies a waiting call as the operator `decidedBy`. */
  decide(id: string, decision: 'allow' | 'deny', options?: DecideOptions): Promise<ToolCallRecord>;
  /**
   * Responds to an input request of a call as its caller: the agent `agentId` of `call` and `invoke`. Throws if the content
   * does not fit, or if the request has a response or the call has ended.
   */
  respondInput(
    id: string,
    response: RespondInputOptions,
    options?: Pick<InvokeOptions, 'agentId'>,
  ): Promise<ToolCallRecord>;
  /** Creates an API key for network requests. The secret cannot be read again later. */
  createKey(options: BoardKeyOptions): Promise<{ readonly id: string; readonly secret: string }>;
  /** Request handler of the network APIs for your own server: Node, Express, Fastify. Every request needs a credential. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** The same for frameworks with the Fetch API: Next, Hono. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Starts a server with the network APIs. With `postgres(url)` every request needs a credential: see `createKey`. */
  listen(options?: { readonly port?: number; readonly host?: string }): Promise<ListeningApis>;
  /**
   * Calls `listener` once with the problem if another process has taken over the calls of this board, because its heartbeat
   * stopped, or if the database was restored to an earlier state; at once if that has happened. From then on every call, and
   * every wait for an open one, throws a `BoardError` with the code `storage_unavailable`: close the board and create another.
   * Only a board with `postgres(url)` can be taken over. The returned function removes the listener.
   */
  onFenced(listener: (problem: string) => void): () => void;
  /** Stops agents where they can be resumed, waits for running calls and releases all resources. */
  close(): Promise<void>;
}
