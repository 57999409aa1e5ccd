import type { Call } from '../../../core/call/call.ts';
import type { Failure } from '../../../core/failures.ts';
import { mcpResultMembers } from '../../../protocols/mcp/tool-result.ts';
import { failureText } from '../../../protocols/result-text.ts';
import type { Era } from '../exchange.ts';
import { failureData, isResult, toRpcError } from '../messages/failures.ts';
import { membersOf, resultJson } from '../messages/result-json.ts';
import { META } from '../../../protocols/mcp/revisions.ts';
import type { RpcError } from '../messages/rpc-error.ts';

/** A result of `tools/call`: the members of its JSON text, and `_meta`. */
export interface ResultMembers {
  readonly members: string;
  readonly meta: Readonly<Record<string, unknown>>;
}

/**
 * The result of an ended call, or the error that the protocol wants instead. `hasOutputSchema`: the tool list may have shown
 * one to the client.
 */
export function endedResult(call: Call, era: Era, hasOutputSchema = false): ResultMembers | RpcError {
  const { state } = call;
  if (state.name === 'COMPLETED')
    return {
      members: mcpResultMembers(state.resultJson, {
        structured: era === 'modern' ? 'any' : 'object',
        hasOutputSchema,
        note: noteOf(call),
      }),
      meta: idMeta(call),
    };
  if (!('error' in state)) throw new Error(`call ${call.id} has not ended`);
  return failureResult(state.error, call, era);
}

/** `call`: null if the request was refused before a call was recorded. */
export function failureResult(failed: Failure, call: Call | null, era: Era): ResultMembers | RpcError {
  // Older protocol versions have no error for a missing capability.
  const hasNoError = era === 'legacy' && failed.code === 'input_unavailable';
  if (!isResult(failed) && !hasNoError) return toRpcError(failed);
  return {
    members: membersOf({ content: failureContent(failed, call), isError: true }),
    meta: { ...(call === null ? {} : idMeta(call)), [META.error]: failureData(failed) },
  };
}

/** A tool that reports a failure with content keeps it. */
function failureContent(failed: Failure, call: Call | null): readonly unknown[] {
  const issues = (failed.issues ?? []).map(({ path, message }) => `${path}: ${message}`);
  const note = failed.note === undefined ? [] : [`Note of the operator: ${failed.note}`];
  const ofCall = call === null ? null : noteOf(call);
  const lines = [failureText(failed), ...note, ...issues, ...(ofCall === null ? [] : [ofCall])];
  return [{ type: 'text', text: lines.join('\n') }];
}

/** What the model must know besides the result. */
function noteOf({ workspace }: Call): string | null {
  return workspace === 'new' ? WORKSPACE_NEW : null;
}

const WORKSPACE_NEW =
  'Note: the workspace of this run moved to another server, because the former one is gone. Files of earlier calls are not there.';

export function idMeta({ id }: Pick<Call, 'id'>): Readonly<Record<string, unknown>> {
  return { [META.toolCallId]: id };
}

export function callResultJson({ members, meta }: ResultMembers, era: Era): string {
  return resultJson(era, members, { meta });
}
