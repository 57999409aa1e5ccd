import { reason, type JsonSchema, type Reason, type SandboxName } from '@patchboard/wire';
import type { Failure } from '../../core/failures.ts';
import type { HookCall, HookDecision, Hooks } from '../../core/hooks/hooks.ts';
import type { ServerTool, ToolContext } from '../../core/tools/server-tool.ts';

/** What a tool of this pack says of itself; the rest follows from what it does. */
export interface WorkspaceTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly timeoutMs?: number;
  readonly spell?: (args: unknown) => unknown;
  /** Why an operator is asked besides; undefined: for no other reason. */
  readonly asks?: (args: unknown) => Ask | undefined;
  /** What a call can do on a server without a sandbox, in the name of this user. Default: what file tools can do. */
  readonly reach?: (user: string) => Reason;
  execute(args: unknown, context: ToolContext): Promise<unknown>;
}

/** The decision of a hook to ask an operator. */
export interface Ask {
  readonly decision: 'ask';
  readonly reasons: readonly Reason[];
  readonly meta: Readonly<Record<string, unknown>>;
}

export interface EnclosureFacts {
  readonly provider: SandboxName;
  /** The user that the server runs as, and with it commands that nothing encloses. */
  readonly user: string;
  /** Why nothing may be run or written; null: it may. */
  readonly refusal: Failure | null;
}

const TIMEOUT_MS = 30_000;

/** Turns what a tool does into what is allowed, asked and recorded. */
export class WorkspaceRules {
  readonly facts: EnclosureFacts;

  constructor(facts: EnclosureFacts) {
    this.facts = facts;
  }

  reads(tool: WorkspaceTool): ServerTool {
    const annotations = { readonly: true, destructive: false, idempotent: true };
    return { ...this.#plain(tool), annotations, sandbox: this.facts.provider };
  }

  /** Asks an operator, and where nothing encloses it asks whatever the policy says. */
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

  /** Touches nothing outside the store. */
  keeps(tool: WorkspaceTool, annotations: ServerTool['annotations']): ServerTool {
    return { ...this.#plain(tool), annotations };
  }

  #plain({ asks: _asks, reach: _reach, spell, ...tool }: WorkspaceTool): Omit<ServerTool, 'annotations'> {
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
  { asks, reach = fileReach }: WorkspaceTool,
  { provider, user }: EnclosureFacts,
): Hooks | null {
  if (provider === 'none') {
    const unenclosed: Ask = {
      decision: 'ask',
      reasons: [reach(user)],
      meta: { risk: 'high' },
    };
    return { preToolUse: (call: HookCall) => both(asks?.(call.args), unenclosed) };
  }
  return asks === undefined ? null : { preToolUse: (call: HookCall): HookDecision => asks(call.args) };
}

/** One question for both reasons: neither hides the other. */
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
