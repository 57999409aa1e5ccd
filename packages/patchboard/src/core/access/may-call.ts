import type { RegisteredTool } from '../tools/registered-tool.ts';
import { audienceDenial } from '../tools/tool-audience.ts';
import type { Guard } from './guard.ts';
import { mayEver } from './policy/decide.ts';
import type { AgentPolicy } from './policy/document.ts';
import type { Principal } from './principal.ts';

/**
 * Whether there are arguments with which the principal could call the tool. Lists leave out a tool for which there are
 * none, and a call of it is denied before its arguments are looked at: an error in them would show the schema.
 * `permissions`: those of an agent in this process and of the agents above it.
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
