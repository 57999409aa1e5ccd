import {
  reasonText,
  type ContractDifference,
  type FailureCode,
  type JsonSchema,
  type Reason,
  type ReasonView,
  type RejectedTool,
  type SandboxName,
  type ToolAnnotations,
  type ToolSourceName,
  type ToolSpec,
} from '@patchboard/wire';
import type { Failure } from '../failures.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { Validator } from '../ports.ts';
import type { ServerTool } from './server-tool.ts';

/** A tool that can be called now. */
export interface RegisteredTool {
  /** Null for a tool of this server. */
  readonly tenant: string | null;
  /** The pack the tool belongs to, which decides the tenants that have it; null if it belongs to none. */
  readonly pack: string | null;
  readonly name: string;
  /** The form of the name that model vendors accept; every API accepts both names. */
  readonly wireName: string;
  /** A longer wire name of an earlier version: every API accepts it, none lists it. Null: there is none. */
  readonly earlierWireName: string | null;
  readonly source: ToolSourceName;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema | null;
  readonly timeoutMs: number;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly annotations: ToolAnnotations;
  /** Hash of the contract. Grants and approvals are bound to it. */
  readonly version: string;
  /** Size of the client's spec as JSON; 0 for a tool of this server. */
  readonly bytes: number;
  readonly validateInput: Validator;
  readonly validateOutput: Validator | null;
  /** Hooks that run for this tool only, before all others. */
  readonly hooks: Hooks | null;
  /** How long a result may be served from the cache; null: results are not cached. */
  readonly cacheTtlMs: number | null;
  /** The sandbox it runs in; null: it uses none. */
  readonly sandbox: SandboxName | null;
  /** Every call of the tool is refused with this failure; null: it can run. */
  readonly unavailable: Failure | null;
  /** Renames aliases of parameters to the schema's names; null: the tool has no aliases. */
  readonly spell: ((args: unknown) => unknown) | null;
  /** See `ServerTool.task`; null: the API decides. */
  readonly task: NonNullable<ServerTool['task']> | null;
  /** True: a returned `{ ok: false, … }` is a failure. False: every returned value is data, whatever it looks like. */
  readonly reportsFailures: boolean;
  /** Its results may hold content up to `limits.contentBytes`. Those of others are bounded by what carries them. */
  readonly returnsLargeContent: boolean;
  /** The client that registered the tool; null for a tool that runs in this process. */
  readonly clientId: string | null;
  /** Set if the contract differs from the accepted one: then calls are not simply allowed. */
  readonly contractChange: ContractChange | null;
  /** Selects the provider. Only that provider reads the other members. */
  readonly runsOn: RunsOn;
}

/** A contract of an upstream's tool that no operator has accepted yet. */
export interface ContractChange {
  /** What it means for calls. */
  readonly effect: 'ask' | 'deny';
  /** The accepted version. */
  readonly from: string;
  /** Epoch milliseconds. */
  readonly since: number;
  readonly differences: readonly ContractDifference[];
}

export type RunsOn =
  | { readonly kind: 'server'; readonly tool: ServerTool }
  | { readonly kind: 'client'; readonly clientId: string };

/** A tool that a client registered. */
export interface ClientTool extends RegisteredTool {
  readonly tenant: string;
  readonly clientId: string;
}

/** The wire name, and the earlier one if there is one. */
export function wireNamesOf({
  wireName,
  earlierWireName,
}: Pick<RegisteredTool, 'wireName' | 'earlierWireName'>): readonly string[] {
  return earlierWireName === null ? [wireName] : [wireName, earlierWireName];
}

/** The tool without description and schemas, for an agent that may not call it: enough to parse a call of it. */
export function withoutContract(tool: RegisteredTool): RegisteredTool {
  return { ...tool, description: '', inputSchema: true, outputSchema: null };
}

/** A client's tool as the store keeps it. */
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
  /** What `reason` was made from. */
  readonly reasons: readonly ReasonView[];
}

export function rejected(code: FailureCode, why: Reason): Rejection {
  return { ok: false, code, reason: reasonText(why), reasons: [why] };
}

/** The outcome of registering several tools. */
export interface RegistrationReport {
  readonly registered: readonly RegisteredTool[];
  readonly rejected: readonly RejectedTool[];
}

/** A rejection as a registration reports it. */
export function rejectedTool(name: string, { code, reason, reasons }: Rejection): RejectedTool {
  return { name, code, reason, reasons };
}
