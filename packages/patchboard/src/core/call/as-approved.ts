import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { Call } from './call.ts';

/** What an operator approved is not run under another contract. `tool`: as it is registered now. */
export function isAsApproved(call: Call, tool: RegisteredTool | undefined): boolean {
  return call.approval === null || tool?.version === call.toolVersion;
}
