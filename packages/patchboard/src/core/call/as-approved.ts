import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { Call } from './call.ts';

/** Whether the registered tool has the contract that the operator approved. True for a call without approval. */
export function isAsApproved(call: Call, tool: RegisteredTool | undefined): boolean {
  return call.approval === null || tool?.version === call.toolVersion;
}
