import type { CallStateName, CallView, McpClientView } from '@patchboard/wire';
import { brief } from '../format.ts';
import { visibleText } from '../visible-text.ts';
import { ranMsOf } from './call-execution.ts';

/** The fields of a call that a list shows; the others are dropped to save memory. */
export interface CallRow {
  readonly id: string;
  readonly tool: string;
  readonly agent: string;
  /** The MCP client that made the call; empty for other calls. */
  readonly via: string;
  readonly run: string;
  /** The node that holds the call, or ended it; null if only one can use the store. */
  readonly node: number | null;
  readonly state: CallStateName;
  readonly createdAt: number;
  readonly waitedMs: number | null;
  readonly ranMs: number | null;
  readonly totalMs: number | null;
  readonly args: string;
  readonly code: string;
}

export function rowOf(call: CallView): CallRow {
  return {
    id: call.tool_call_id,
    tool: call.tool_name,
    agent: call.agent_id,
    via: call.mcp_client === undefined ? '' : clientName(call.mcp_client),
    run: call.run_id,
    node: call.node ?? null,
    state: call.state,
    createdAt: call.created_at,
    waitedMs: call.waited_ms,
    ranMs: ranMsOf(call),
    totalMs: call.duration_ms,
    args: brief(call.args, 200),
    code: call.error?.code ?? '',
  };
}

/** Name and version of an MCP client. */
export function clientName({ name, version }: McpClientView): string {
  return visibleText(`${name} ${version}`.trim());
}

export interface Merged<T> {
  /** Known rows that have changed. */
  readonly changed: readonly T[];
  /** New rows, newest first. */
  readonly fresh: readonly T[];
  /** There may be more between the fresh rows and the known ones. */
  readonly hasGap: boolean;
}

/** Compares the newest page with the known rows. */
export function mergeNewest<T extends { readonly id: string }>(
  isKnown: (id: string) => boolean,
  newest: readonly T[],
): Merged<T> {
  const changed = newest.filter(({ id }) => isKnown(id));
  const fresh = newest.filter(({ id }) => !isKnown(id));
  return { changed, fresh, hasGap: changed.length === 0 && newest.length > 0 };
}
