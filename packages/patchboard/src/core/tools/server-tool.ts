import type { JsonSchema, SandboxName, ToolAnnotations } from '@patchboard/wire';
import type { AgentHandle } from '../agent-handle.ts';
import type { CallOrigin } from '../call/call-origin.ts';
import type { Failure } from '../failures.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { Log } from '../ports.ts';
import type { Sandbox } from '../sandbox.ts';
import type { ToolServices } from '../workspaces.ts';

/** What a tool of this server gets besides its arguments. */
export interface ToolContext {
  readonly callId: string;
  readonly runId: string;
  readonly agentId: string;
  readonly tenant: string;
  /** For which site, user, session and character it asks; null where the API knows of none. */
  readonly origin: CallOrigin | null;
  /** 1 for the first try. */
  readonly attempt: number;
  /** The same for every attempt of one call: hand it to whatever must not act twice. */
  readonly idempotencyKey: string;
  /** W3C trace context of the caller, to hand on to whatever the tool asks; null when there is none. */
  readonly traceparent: string | null;
  /** Aborted at the deadline, on cancel and on shutdown. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly deadlineAt: number;
  /** The agent that asks, if it runs in this process. */
  readonly agent: AgentHandle | undefined;
  /** Names the call in every line; members that are redacted elsewhere are redacted here. */
  readonly log: Log;
  /** The workspace of this run, and commands enclosed in it. Fails with `sandbox_unavailable` where there is none. */
  readonly sandbox: Sandbox;
  /** What the run remembers of its own. Absent where the board has no workspace. */
  readonly services?: ToolServices | undefined;
  /** Tells whoever follows the call, as `call.progress`. */
  readonly progress: (data: unknown) => void;
  /** Tells the agent that asks and whoever follows the call, as `tool_custom_event`. Ignored once the call is over. */
  readonly emit: (eventType: string, data?: unknown) => void;
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
  /** How many calls of it may run at once; null: no limit of its own. */
  readonly concurrency: number | null;
  /** A concurrency limit that it shares with all tools whose slot has the same name. */
  readonly slot?: { readonly name: string; readonly limit: number };
  /**
   * For APIs that can return a task instead of waiting for the result. `always`: every call returns one; `never`: none
   * does. Absent: the API decides.
   */
  readonly task?: 'always' | 'never';
  /** Only for tools that only read: how long a result may be given again. They are not told for whom they run. */
  readonly cacheTtlMs?: number;
  /** Fire for this tool only, before all others. */
  readonly hooks?: Hooks | null;
  /** What encloses its work, kept with every call; absent: it uses no sandbox. */
  readonly sandbox?: SandboxName;
  /** Why no call of it can run here: every one is refused with this. */
  readonly unavailable?: Failure;
  /** Puts other names that callers use for parameters into the schema's own, before anything looks at them. */
  readonly spell?: (args: unknown) => unknown;
  /** Whether what it depends on can be reached now. Absent: always. A call is accepted either way. */
  isOnline?(): boolean;
  /** `args` has passed the input schema. The result, or a promise of it. Throw `ToolFailure` to fail on purpose. */
  execute(args: unknown, context: ToolContext): unknown;
}

/** A set of server tools shipped together. */
export interface Pack {
  readonly name: string;
  readonly tools: readonly ServerTool[];
  /** Only tenants that name the pack have its tools. Default: every tenant that names none. */
  readonly mustBeNamed?: boolean;
  /** Ends what the pack holds open. */
  close?(): Promise<void>;
}
