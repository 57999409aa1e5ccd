import type { InputKind, JsonSchema, SandboxName, ToolAnnotations } from '@patchboard/wire';
import type { AgentHandle } from '../agent-handle.ts';
import type { CallOrigin } from '../call/call-origin.ts';
import type { ContentOf, InputRequest, InputResponse, LibrarySchema } from '../call/input.ts';
import type { Failure } from '../failures.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { Log } from '../ports.ts';
import type { Sandbox } from '../sandbox.ts';
import type { ResourceSet, ResourceSource } from '../resources/resource.ts';
import type { ToolServices } from '../workspaces.ts';

/** What a tool of this server receives besides its arguments. */
export interface ToolContext {
  readonly callId: string;
  readonly runId: string;
  readonly agentId: string;
  readonly tenant: string;
  /** The site, user, session and character the caller acts for; null if the API carries none. */
  readonly origin: CallOrigin | null;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The same for every attempt of one call. Pass it to services that must not act twice. */
  readonly idempotencyKey: string;
  /** W3C trace context of the caller, to pass on in requests that the tool makes; null if there is none. */
  readonly traceparent: string | null;
  /** Aborted at the deadline, on cancel and on shutdown. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly deadlineAt: number;
  /** The calling agent, if it runs in this process. */
  readonly agent: AgentHandle | undefined;
  /** Adds the call id to every line, and redacts the same members as the rest of the log. */
  readonly log: Log;
  /** The workspace of this run, and commands that run inside it. Throws `sandbox_unavailable` if there is none. */
  readonly sandbox: Sandbox;
  /** State kept for this run. Absent if the board has no workspace. */
  readonly services?: ToolServices | undefined;
  /** Whether the caller can respond to a form. */
  readonly acceptsInput: boolean;
  /** The kinds of input requests that the caller can respond to. Most callers: `form` and `url`. */
  readonly acceptsInputKinds: readonly InputKind[];
  /**
   * Asks the caller for input and resolves with the content. The attempt keeps its slot, and its clock stands still. A
   * restart ends the call, unless the tool is idempotent. Rejects with `ToolFailure`: `input_unavailable`,
   * `input_declined`, or `input_invalid` if the content fits the JSON Schema and the library's schema rejects it. To wait
   * without holding a slot, return `inputRequired(…)` instead.
   */
  readonly requestInput: <Schema extends JsonSchema | LibrarySchema = JsonSchema>(
    request: InputRequest<Schema>,
  ) => Promise<ContentOf<Schema>>;
  /** The responses to the requests that the tool returned before, by key. */
  readonly inputs: Readonly<Record<string, InputResponse>>;
  /** What the tool returned with its last input request for this run; undefined: nothing. */
  readonly carried: unknown;
  /** Sends `call.progress` to the subscribers of the call. */
  readonly progress: (data: unknown) => void;
  /** Sends `tool_custom_event` to the calling agent and the subscribers of the call, unless the call has ended. */
  readonly emit: (eventType: string, data?: unknown) => void;
}

/** A schema as the engine uses it. */
export interface ReadSchema {
  readonly json: JsonSchema;
  /** Returns the content with the defaults of the schema, or a promise of it. Throws `ToolFailure` if it is invalid. */
  readonly parse: (content: unknown) => unknown;
}

/** A tool that runs in this process. */
export interface ServerTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema | null;
  readonly timeoutMs: number;
  readonly annotations: ToolAnnotations;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** Maximum number of calls of this tool that run at once; null: no limit of its own. */
  readonly concurrency: number | null;
  /** A concurrency limit shared by all tools whose slot has the same name. */
  readonly slot?: { readonly name: string; readonly limit: number };
  /**
   * For APIs that can return a task instead of waiting for the result. `always`: every call returns one; `never`: none
   * does. Absent: the API decides.
   */
  readonly task?: 'always' | 'never';
  /** For readonly tools only: how long a result may be cached. Such tools do not receive the caller's identity. */
  readonly cacheTtlMs?: number;
  /** Hooks that run for this tool only, before all others. */
  readonly hooks?: Hooks | null;
  /** The sandbox it runs in, recorded with every call; absent: it uses none. */
  readonly sandbox?: SandboxName;
  /** Set if the tool cannot run on this server: every call is refused with this failure. */
  readonly unavailable?: Failure;
  /** Renames aliases of parameters to the schema's names, before validation and policy. */
  readonly spell?: (args: unknown) => unknown;
  /** Reads the schemas of input requests that are not JSON Schemas. Absent: all are. */
  readonly readSchema?: (schema: JsonSchema | LibrarySchema) => ReadSchema;
  /** Of a tool of an upstream: what its calls are sent to, as JSON. Part of the contract. Absent: nothing. */
  readonly target?: unknown;
  /** Of a tool of an upstream: see `UpstreamTool.via`. Not part of the contract. */
  readonly via?: readonly string[];
  /** Whether the tool's dependencies are reachable now. Absent: always. A call is accepted either way. */
  isOnline?(): boolean;
  /**
   * Called when a call ends while it waits for the input that the tool returned a request for, so that the tool does not run again.
   * `carried`: what it kept for its next run.
   */
  abandoned?(carried: unknown): void;
  /** `args` has passed the input schema. Returns the result or a promise of it. Throw `ToolFailure` to fail on purpose. */
  execute(args: unknown, context: ToolContext): unknown;
}

/** An engine that mirrors a changing set of tools. */
export interface ToolFollower {
  /** Returns why the tool cannot be added, or null. */
  problemWith(tool: ServerTool): Failure | null;
  /** Called for tools that were there before the engine followed; they cause no event. */
  begin(tool: ServerTool): void;
  added(tool: ServerTool): void;
  removed(names: readonly string[]): void;
}

/** Tools that come and go. */
export interface ToolSource {
  /** Passes the current tools to `begin`, then every change. The returned function stops it. */
  follow(follower: ToolFollower): () => void;
}

/** A set of server tools, resources and prompts shipped together. */
export interface Pack extends ResourceSet {
  readonly name: string;
  readonly tools: readonly ServerTool[];
  /** True: only tenants that list the pack have its tools. Default: tenants without a pack list have them too. */
  readonly mustBeNamed?: boolean;
  /** Tools that come and go. */
  readonly toolSource?: ToolSource;
  /** Resources, templates and prompts that come and go. */
  readonly resourceSource?: ResourceSource;
  /** Closes the pack's open resources. */
  close?(): Promise<void>;
}
