import { reason, type FailureCode, type Reason } from '@patchboard/wire';
import { isAsApproved } from '../call/as-approved.ts';
import type { Call } from '../call/call.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { ToolIndex } from '../tools/tool-index.ts';

/** Why a call cannot run with the tool that is registered. */
export interface ToolProblem {
  readonly code: FailureCode;
  readonly why: Reason;
}

export function unknownTool({ toolName: tool }: Call): ToolProblem {
  return { code: 'tool_not_found', why: reason('tool_unknown', { tool }) };
}

function changedTool({ toolName: tool }: Call): ToolProblem {
  return { code: 'tool_not_found', why: reason('tool_changed', { tool }) };
}

const NOT_AS_APPROVED: ToolProblem = { code: 'approval_denied', why: reason('approval_tool_changed') };

/** Returns null if the tool is the one that the call was recorded, and maybe approved, for. */
export function startProblem(call: Call, tool: RegisteredTool): ToolProblem | null {
  // A call that was recorded, and maybe approved, for one sandbox must not run in another after a restart.
  if (call.sandbox !== tool.sandbox) {
    const why = reason('sandbox_differs', { wanted: String(call.sandbox), here: String(tool.sandbox) });
    return { code: 'sandbox_unavailable', why };
  }
  if (!isAsApproved(call, () => tool)) return NOT_AS_APPROVED;
  // The arguments were validated against the recorded version of the contract.
  return tool.version === call.toolVersion ? null : changedTool(call);
}

/**
 * Returns the problem of a call whose tool an upstream removed or changed while the call waited for a slot. A tool of this process
 * runs as it was when the call was submitted.
 */
export function changeProblem(toolIndex: ToolIndex, call: Call, tool: RegisteredTool): ToolProblem | null {
  if (tool.source === 'server') return null;
  const registered = toolIndex.find(call.tenant, call.toolName);
  if (registered?.version === tool.version) return null;
  if (registered === undefined) return unknownTool(call);
  return call.approval === null ? changedTool(call) : NOT_AS_APPROVED;
}
