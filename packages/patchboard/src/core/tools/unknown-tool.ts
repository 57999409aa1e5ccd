import type { Guard } from '../access/guard.ts';
import type { Principal } from '../access/principal.ts';
import { failure, type Failure } from '../failures.ts';
import { didYouMean } from '../spelling.ts';
import type { RegisteredTool } from './registered-tool.ts';
import type { Registry } from './registry.ts';
import { audienceProblem } from './tool-audience.ts';
import { shownName } from './tool-names.ts';

/**
 * Why nothing is called, with the tool that was probably meant. One that the principal may not see is never named; of
 * one that is for somebody else it is said.
 */
export function unknownTool(
  { registry, guard }: { readonly registry: Registry; readonly guard: Guard },
  principal: Principal,
  given: string,
): Failure {
  const { tenant } = principal;
  const visible = (name: string): RegisteredTool | undefined => {
    const tool = registry.find(tenant, name);
    return tool !== undefined && guard.lists(principal, tool) ? tool : undefined;
  };
  const mayBeNamed = (name: string): boolean => {
    const tool = visible(name);
    return tool !== undefined && audienceProblem(tool, principal) === null;
  };
  const meant = visible(given);
  const problem = meant === undefined ? null : audienceProblem(meant, principal);
  if (problem !== null) return problem;
  const name = shownName(given);
  const hint = didYouMean(name, registry.names(tenant), mayBeNamed);
  return failure('tool_not_found', `tool not found: ${name}${hint}`);
}
