import type {
  FailureCode,
  JsonSchema,
  SandboxName,
  ToolAnnotations,
  ToolSourceName,
  ToolSpec,
} from '@patchboard/wire';
import type { Failure } from '../failures.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { Validator } from '../ports.ts';
import type { ServerTool } from './server-tool.ts';

/** A tool that can be called now. */
export interface RegisteredTool {
  /** Null: a tool of this server. */
  readonly tenant: string | null;
  /** Which pack it came with, and so which tenants have it; null: with none. */
  readonly pack: string | null;
  readonly name: string;
  /** The name model vendors accept; every API takes both. */
  readonly wireName: string;
  readonly source: ToolSourceName;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema | null;
  readonly timeoutMs: number;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly annotations: ToolAnnotations;
  /** Hash of the contract: grants and approvals bind to it. */
  readonly version: string;
  /** Of the client's spec as JSON; 0 for a tool of this server. */
  readonly bytes: number;
  readonly validateInput: Validator;
  readonly validateOutput: Validator | null;
  /** Hooks that run for this tool only, before all others. */
  readonly hooks: Hooks | null;
  /** How long a result may be returned again; null: not at all. */
  readonly cacheTtlMs: number | null;
  /** The sandbox its work is enclosed in; null: it uses none. */
  readonly sandbox: SandboxName | null;
  /** The failure that refuses every call of it; null: it can run. */
  readonly unavailable: Failure | null;
  /** Renames other names of parameters to the schema's own; null: it has none. */
  readonly spell: ((args: unknown) => unknown) | null;
  /** As `ServerTool.task`; null: the API decides. */
  readonly task: NonNullable<ServerTool['task']> | null;
  /** It may report a failure by returning one. Other tools return data only, whatever it looks like. */
  readonly reportsFailures: boolean;
  /** The client whose tool it is; null: a tool that runs in this process. */
  readonly clientId: string | null;
  /** Selects the provider; only that provider looks inside. */
  readonly runsOn: RunsOn;
}

export type RunsOn =
  | { readonly kind: 'server'; readonly tool: ServerTool }
  | { readonly kind: 'client'; readonly clientId: string };

/** A tool that a client registered. */
export interface ClientTool extends RegisteredTool {
  readonly tenant: string;
  readonly clientId: string;
}

/** What is left of a tool for an agent that may not call it: its names, to understand a request that asks for it. */
export function withoutContract(tool: RegisteredTool): RegisteredTool {
  return { ...tool, description: '', inputSchema: true, outputSchema: null };
}

/** A client's tool as it is kept over restarts. */
export interface StoredTool {
  readonly tenant: string;
  readonly clientId: string;
  readonly wireName: string;
  readonly spec: ToolSpec;
  readonly registeredAt: number;
}

export type Registration<Tool extends RegisteredTool = RegisteredTool> =
  { readonly ok: true; readonly tool: Tool } | Rejection;

export interface Rejection {
  readonly ok: false;
  readonly code: FailureCode;
  readonly reason: string;
}

export function rejected(code: FailureCode, reason: string): Rejection {
  return { ok: false, code, reason };
}
