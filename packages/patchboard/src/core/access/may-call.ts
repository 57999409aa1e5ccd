import type { RegisteredTool } from '../tools/registered-tool.ts';
import { audienceDenial } from '../tools/tool-audience.ts';
import type { Guard } from './guard.ts';
import { mayEver } from './policy/decide.ts';
import type { AgentPolicy } from './policy/document.ts';
import type { Principal } from './principal.ts';

/**
 * Whether there are arguments with which the principal may call the tool. If not, lists leave the tool out, and a call is
 * denied before its arguments are validated, because a validation error would reveal the schema.
 * `permissions`: those of an in-process agent and of the agents above it.
 */
export function mayCall(
  guard: Pick<Guard, 'lists'>,
  principal: Principal,
  tool: RegisteredTool,
  permissions: readonly AgentPolicy[] = [],
): boolean {
  return (
    guard.lists(principal, tool) &&
    audienceDenial(tool, principal) === null &&
    permissions.every((permission) => mayEver(permission, tool.name))
  );
}
