import type { Guard } from '../access/guard.ts';
import { mayCall } from '../access/may-call.ts';
import type { Principal } from '../access/principal.ts';
import { failure, type Failure } from '../failures.ts';
import { didYouMean } from '../spelling.ts';
import type { Registry } from './registry.ts';
import { shownName } from './tool-names.ts';

/** There is no tool of that name. Names the tool that was probably meant, never one that the principal may not call. */
export function unknownTool(
  { registry, guard }: { readonly registry: Registry; readonly guard: Guard },
  principal: Principal,
  given: string,
): Failure {
  const { tenant } = principal;
  const mayBeNamed = (name: string): boolean => {
    const tool = registry.find(tenant, name);
    return tool !== undefined && mayCall(guard, principal, tool);
  };
  const name = shownName(given);
  const hint = didYouMean(name, registry.names(tenant), mayBeNamed);
  return failure('tool_not_found', `tool not found: ${name}${hint}`);
}
