import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AgentHost } from '../agent/agent-host.ts';
import type { BoardStore } from './stores.ts';
import type { WrittenPolicy } from '../core/access/policy/written-policy.ts';
import type { AgentHooks } from '../sdk/agent-hooks.ts';
import type { KeyKind } from '../core/access/key-index.ts';
import type { Limits } from '../core/limits.ts';
import type { Log } from '../core/ports.ts';
import type { RegisteredTool } from '../core/tools/registered-tool.ts';
import type { Scope } from '../core/access/scopes.ts';
import type { ListeningApis } from '../wiring/apis.ts';
import type { HttpOptions } from '../wiring/mounted-apis.ts';
import type { DecideOptions } from '../sdk/decide-options.ts';
import type { ToolCallRecord } from '../sdk/tool-call-record.ts';
import type { AnyTool } from '../sdk/tool-instance.ts';
import type { ToolRegistry } from '../sdk/tool-registry.ts';
import type { WorkspaceOptions } from '../wiring/sandbox-setup.ts';

export interface BoardOptions {
  /** A registry's later changes are followed. */
  readonly tools?: readonly AnyTool[] | ToolRegistry;
  /** Default: `memory()`. */
  readonly store?: BoardStore;
  /** A policy document, as in the config. Default: a tool that says it is risky asks, any other runs. */
  readonly policy?: WrittenPolicy;
  readonly hooks?: AgentHooks | readonly AgentHooks[];
  readonly limits?: Partial<Limits>;
  /**
   * How many ended calls are kept, those that ended last. An idempotency key is dropped with its call: the same key then
   * makes a new call. Default with `memory()`: 10,000, and ledger rows, runs and journals of agents are bounded along with
   * them. Default with `sqlite(folder)`: every call; with a number, about that many, and every ledger row.
   */
  readonly retain?: number;
  /** Names of members of arguments that are not kept after the end. */
  readonly redact?: readonly string[];
  /** Adds the workspace tools, and gives every run a sandbox. Default: there is neither. */
  readonly workspace?: WorkspaceOptions;
  /** Default: nothing is logged. */
  readonly log?: Log;
  /** How the network reaches it: by `listen`, `handler` or `fetch`. */
  readonly http?: HttpOptions;
}

/** Whom a key stands for, and for how long. */
export interface BoardKeyOptions {
  readonly kind: KeyKind;
  readonly name: string;
  /** Default: what the kind is good for. */
  readonly scopes?: readonly Scope[];
  /** Epoch milliseconds. Default: it does not end. */
  readonly expiresAt?: number;
}

export interface InvokeOptions {
  /** Default: one run for everything this board is asked by that agent. */
  readonly runId?: string;
  /** As whom the call is made: policy may say other things for others. Default: `embedded`. */
  readonly agentId?: string;
  readonly idempotencyKey?: string;
}

export interface CallOptions extends InvokeOptions {
  /** When it fires the call is cancelled. Has it fired already, that is thrown, and nothing is recorded. */
  readonly signal?: AbortSignal;
}

export interface ToolFilter {
  /** Those that have it in `metadata.tags`. */
  readonly tag?: string;
  /** Whose tools: policy may hide some from others. Default: `embedded`. */
  readonly agentId?: string;
}

/** The engine in your own process. The same steps as over the network, and the network if you want it. */
export interface Patchboard {
  /** What an `Agent` works on. */
  readonly host: AgentHost;
  /** Its tools come from here; what is registered or taken back later counts at once. */
  readonly registry: ToolRegistry;
  /** What can be called now, by `embedded` or the agent that is named. */
  tools(filter?: ToolFilter): readonly RegisteredTool[];
  /** Resolves when the call has ended, well or badly; what was refused before it was recorded throws. */
  call(name: string, args?: unknown, options?: CallOptions): Promise<ToolCallRecord>;
  /** Resolves when the receipt is durable. */
  invoke(name: string, args?: unknown, options?: InvokeOptions): Promise<ToolCallRecord>;
  /** Undefined: there is no such call, or it ended so long ago that it was dropped (`retain`). */
  get(id: string): Promise<ToolCallRecord | undefined>;
  /** The call once it has ended. */
  wait(id: string): Promise<ToolCallRecord>;
  cancel(id: string): Promise<ToolCallRecord>;
  /** Answers a call that waits for approval, as the operator `decidedBy`. */
  decide(id: string, decision: 'allow' | 'deny', options?: DecideOptions): Promise<ToolCallRecord>;
  /** A credential for requests over the network. The secret is shown this once. */
  createKey(options: BoardKeyOptions): Promise<{ readonly id: string; readonly secret: string }>;
  /** The network APIs for a server of yours: Node's own, Express, Fastify. Every request needs a credential. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** The same for route handlers that take a `Request`: Next, Hono. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Adds the network APIs. */
  listen(options?: { readonly port?: number; readonly host?: string }): Promise<ListeningApis>;
  /** Stops agents where they can be resumed, lets running calls finish and lets go of everything. */
  close(): Promise<void>;
}
