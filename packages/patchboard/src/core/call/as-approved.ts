import type { RegisteredTool } from '../tools/registered-tool.ts';
import { runsInProcess, type Call } from './call.ts';

/**
 * Whether the call is compared with its approval again before this process runs it: it was read from the store, which may
 * have been changed since the approval.
 */
export function isComparedAgain(call: Call): boolean {
  return runsInProcess(call) && call.approval?.decision === 'allow';
}

/**
 * Whether the registered tool has the contract that the operator approved. True for a call without approval, whose tool is not
 * looked up.
 */
export function isAsApproved(call: Call, registered: () => RegisteredTool | undefined): boolean {
  return call.approval === null || registered()?.version === call.toolVersion;
}
