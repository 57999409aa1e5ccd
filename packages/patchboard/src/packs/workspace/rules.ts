import { reason, type JsonSchema, type Reason, type SandboxName } from '@patchboard/wire';
import type { Failure } from '../../core/failures.ts';
import type { HookCall, HookDecision, Hooks } from '../../core/hooks/hooks.ts';
import type { ServerTool, ToolContext } from '../../core/tools/server-tool.ts';

/** The definition of a tool of this pack, without annotations. */
export interface WorkspaceTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly timeoutMs?: number;
  readonly spell?: (args: unknown) => unknown;
  /** Returns further reasons for approval; undefined if there are none. */
  readonly approvalFor?: (args: unknown) => Ask | undefined;
  /** Describes what a call can do as this user on a server without a sandbox. Default: that of file tools. */
  readonly reach?: (user: string) => Reason;
  execute(args: unknown, context: ToolContext): Promise<unknown>;
}

/** The decision of a hook to require approval. */
export interface Ask {
  readonly decision: 'ask';
  readonly reasons: readonly Reason[];
  readonly meta: Readonly<Record<string, unknown>>;
}

export interface EnclosureFacts {
  readonly provider: SandboxName;
  /** The user of the server, and of commands without a sandbox. */
  readonly user: string;
  /** Why commands and writes are refused; null if they are allowed. */
  readonly refusal: Failure | null;
}

const TIMEOUT_MS = 30_000;

/** Adds annotations, hooks and the sandbox to a tool, according to what it does. */
export class WorkspaceRules {
  readonly facts: EnclosureFacts;

  constructor(facts: EnclosureFacts) {
    this.facts = facts;
  }

  reads(tool: WorkspaceTool): ServerTool {
    const annotations = { readonly: true, destructive: false, idempotent: true };
    return { ...this.#plain(tool), annotations, sandbox: this.facts.provider };
  }

  /** Requires approval; without a sandbox, the policy cannot waive it. */
  writes(tool: WorkspaceTool): ServerTool {
    const { provider, refusal } = this.facts;
    return {
      ...this.#plain(tool),
      annotations: { readonly: false, destructive: true, idempotent: false },
      sandbox: provider,
      hooks: hooksOf(tool, this.facts),
      ...(refusal === null ? {} : { unavailable: refusal }),
    };
  }

  /** For a tool that accesses only the store. */
  keeps(tool: WorkspaceTool, annotations: ServerTool['annotations']): ServerTool {
    return { ...this.#plain(tool), annotations };
  }

  #plain({
    approvalFor: _approvalFor,
    reach: _reach,
    spell,
    ...tool
  }: WorkspaceTool): Omit<ServerTool, 'annotations'> {
    return {
      timeoutMs: TIMEOUT_MS,
      metadata: { version: '1.0.0', tags: ['workspace'] },
      concurrency: null,
      ...tool,
      ...(spell === undefined ? {} : { spell }),
    };
  }
}

function hooksOf(
  { approvalFor, reach = fileReach }: WorkspaceTool,
  { provider, user }: EnclosureFacts,
): Hooks | null {
  if (provider === 'none') {
    const unenclosed: Ask = {
      decision: 'ask',
      reasons: [reach(user)],
      meta: { risk: 'high' },
    };
    return { preToolUse: (call: HookCall) => both(approvalFor?.(call.args), unenclosed) };
  }
  return approvalFor === undefined
    ? null
    : { preToolUse: (call: HookCall): HookDecision => approvalFor(call.args) };
}

/** Combines two reasons in one request for approval. */
function both(first: Ask | undefined, second: Ask): Ask {
  if (first === undefined) return second;
  return {
    decision: 'ask',
    reasons: [...first.reasons, ...second.reasons],
    meta: { ...second.meta, ...first.meta },
  };
}

function fileReach(user: string): Reason {
  return reason('write_without_sandbox', { user });
}
