import { nearestName, reason, type Reason } from '@patchboard/wire';
import type { Guard } from '../access/guard.ts';
import { mayCall } from '../access/may-call.ts';
import type { Principal } from '../access/principal.ts';
import { failure, type Failure } from '../failures.ts';
import type { ToolIndex } from './tool-index.ts';
import { shownName } from './tool-names.ts';

/** The failure for an unknown tool name. Suggests a similar tool, never one that the principal may not call. */
export function unknownTool(
  { toolIndex, guard }: { readonly toolIndex: ToolIndex; readonly guard: Guard },
  principal: Principal,
  given: string,
): Failure {
  const { tenant } = principal;
  const mayBeNamed = (name: string): boolean => {
    const tool = toolIndex.find(tenant, name);
    return tool !== undefined && mayCall(guard, principal, tool);
  };
  const name = shownName(given);
  const meant = nearestName(name, toolIndex.names(tenant), mayBeNamed);
  return failure('tool_not_found', toolUnknown(name, meant));
}

/** `meant`: the suggested name; null if no name is similar. */
export function toolUnknown(tool: string, meant: string | null): Reason {
  return meant === null ? reason('tool_unknown', { tool }) : reason('tool_unknown_near', { tool, meant });
}
