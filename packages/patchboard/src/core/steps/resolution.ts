import { reason } from '@patchboard/wire';
import type { Guard } from '../access/guard.ts';
import { mayCall } from '../access/may-call.ts';
import type { Principal } from '../access/principal.ts';
import { failure, problemOf, type Failure } from '../failures.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { Providers } from '../providers/providers.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { ToolIndex } from '../tools/tool-index.ts';
import { unknownTool } from '../tools/unknown-tool.ts';
import type { CallRequest } from '../call/call-request.ts';
import { offeredProblem } from '../call/offered-inputs.ts';

export interface ResolutionParts {
  readonly toolIndex: ToolIndex;
  readonly guard: Guard;
  readonly providers: Providers;
}

/** `request`: the given one, with the argument names that the tool uses. */
export type Resolution =
  | {
      readonly request: CallRequest;
      readonly tool: RegisteredTool;
      readonly problem: Failure | null;
      /** The principal may never call the tool: the call is denied, and nothing else is checked. */
      readonly isDenied: boolean;
    }
  | { readonly request: CallRequest; readonly tool: undefined; readonly problem: Failure };

/** Finds the tool, and checks whether the principal may ever call it and whether target and arguments are valid. */
export function resolveTool(
  parts: ResolutionParts,
  given: CallRequest,
  principal: Principal,
): MaybePromise<Resolution> {
  const tool = parts.toolIndex.find(principal.tenant, given.toolName);
  const request = withOwnNames(given, tool);
  if (tool === undefined) return { request, tool, problem: unknownTool(parts, principal, given.toolName) };
  if (!mayCall(parts.guard, principal, tool, given.caller?.permissions))
    return { request, tool, problem: null, isDenied: true };
  const { target = null } = request;
  if (target === null) return resolution(request, tool, null);
  return andThen(parts.providers.of(tool).targetProblem(tool, target), (problem) =>
    resolution(request, tool, problem),
  );
}

function resolution(request: CallRequest, tool: RegisteredTool, ofTarget: Failure | null): Resolution {
  const problem =
    ofTarget ??
    inputProblem(tool, request.args) ??
    offeredProblem(request.inputs) ??
    // Nothing can run the tool, so the call must not wait for an approval.
    tool.unavailable;
  return { request, tool, problem, isDenied: false };
}

function withOwnNames(request: CallRequest, tool: RegisteredTool | undefined): CallRequest {
  if (tool === undefined || tool.spell === null) return request;
  // It may have changed the given value.
  return { ...request, args: tool.spell(request.args), argsText: undefined };
}

function inputProblem(tool: RegisteredTool, args: unknown): Failure | null {
  const issues = tool.validateInput(args);
  if (issues === null) return null;
  const reasons = issues
    .slice(0, 3)
    .map((issue) => reason('input_issue', { path: issue.path, problem: problemOf(issue) }));
  return failure('input_invalid', reasons, { issues });
}
