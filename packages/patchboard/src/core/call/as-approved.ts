import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { Call } from './call.ts';

/**
 * Whether the registered tool has the contract that the operator approved. True for a call without approval, whose tool is not
 * looked up.
 */
export function isAsApproved(call: Call, registered: () => RegisteredTool | undefined): boolean {
  return call.approval === null || registered()?.version === call.toolVersion;
}
