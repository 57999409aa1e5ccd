import type { JsonSchema, SandboxName } from '@patchboard/wire';
import type { Failure } from '../../core/failures.ts';
import type { HookCall, HookDecision, Hooks } from '../../core/steps/hooks.ts';
import type { ServerTool, ToolContext } from '../../core/tools/server-tool.ts';

/** What a tool of this pack says of itself; the rest follows from what it does. */
export interface WorkspaceTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly timeoutMs?: number;
  readonly spell?: (args: unknown) => unknown;
  /** What asks besides; undefined: nothing does. */
  readonly asks?: (args: unknown) => HookDecision;
  execute(args: unknown, context: ToolContext): Promise<unknown>;
}

export interface EnclosureFacts {
  readonly provider: SandboxName;
  /** Why nothing may be run or written; null: it may. */
  readonly refusal: Failure | null;
}

const TIMEOUT_MS = 30_000;
const UNENCLOSED: HookDecision = {
  decision: 'ask',
  reason: 'nothing encloses it: this server runs without a sandbox',
  meta: { risk: 'high' },
};

/** Turns what a tool does into what is allowed, asked and recorded. */
export class WorkspaceRules {
  readonly #facts: EnclosureFacts;

  constructor(facts: EnclosureFacts) {
    this.#facts = facts;
  }

  reads(tool: WorkspaceTool): ServerTool {
    const annotations = { readonly: true, destructive: false, idempotent: true };
    return { ...this.#plain(tool), annotations, sandbox: this.#facts.provider };
  }

  /** Asks an operator, and where nothing encloses it asks whatever the policy says. */
  writes(tool: WorkspaceTool): ServerTool {
    const { provider, refusal } = this.#facts;
    return {
      ...this.#plain(tool),
      annotations: { readonly: false, destructive: true, idempotent: false },
      sandbox: provider,
      hooks: hooksOf(tool, provider === 'none'),
      ...(refusal === null ? {} : { unavailable: refusal }),
    };
  }

  /** Touches nothing outside the store. */
  keeps(tool: WorkspaceTool, annotations: ServerTool['annotations']): ServerTool {
    return { ...this.#plain(tool), annotations };
  }

  #plain({ asks: _asks, spell, ...tool }: WorkspaceTool): Omit<ServerTool, 'annotations'> {
    return {
      timeoutMs: TIMEOUT_MS,
      metadata: { version: '1.0.0', tags: ['workspace'] },
      concurrency: null,
      ...tool,
      ...(spell === undefined ? {} : { spell }),
    };
  }
}

function hooksOf({ asks }: WorkspaceTool, isUnenclosed: boolean): Hooks | null {
  if (!isUnenclosed && asks === undefined) return null;
  return { preToolUse: (call: HookCall) => asks?.(call.args) ?? (isUnenclosed ? UNENCLOSED : undefined) };
}
