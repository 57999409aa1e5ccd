import type { FailureCode, JsonSchema, ToolAnnotations, ToolSourceName, ToolSpec } from '@patchboard/wire';
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
  readonly runsOn: RunsOn;
}

export type RunsOn =
  | { readonly kind: 'server'; readonly tool: ServerTool }
  | { readonly kind: 'client'; readonly clientId: string };

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

export type Registration =
  | { readonly ok: true; readonly tool: RegisteredTool }
  | { readonly ok: false; readonly code: FailureCode; readonly reason: string };

export function rejected(code: FailureCode, reason: string): Registration {
  return { ok: false, code, reason };
}
