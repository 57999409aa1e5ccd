import { reason, type InputKind } from '@patchboard/wire';
import { InputRequired, type InputRequest } from '../../core/call/input.ts';
import { kindOf } from '../../core/call/input-kinds.ts';
import { failure, ToolFailure } from '../../core/failures.ts';
import { isRecord } from '@patchboard/wire/json';
import type { ToolContext } from '../../core/tools/server-tool.ts';
import { readInputRequest, responseJson } from '../../protocols/mcp/input-requests.ts';
import { TASKS_EXTENSION } from '../../protocols/mcp/revisions.ts';
import type { FailureParts } from './call-failures.ts';
import type { McpRequest } from './mcp-connection.ts';
import type { McpUpstreamSettings } from './mcp-upstream-settings.ts';

/** What a call keeps while it waits for input from its caller. One of `state` and `task` continues it at the upstream. */
export interface InputCarry {
  /** The `requestState` of the upstream. */
  readonly state?: unknown;
  readonly task?: string;
  /** The kinds of the requests by key. */
  readonly kinds: Readonly<Record<string, InputKind>>;
}

/** The kinds of input that an upstream may request during this call: what its settings allow and its caller can give. */
export function requestableKinds(
  { inputRequests, sampling }: Pick<McpUpstreamSettings, 'inputRequests' | 'sampling'>,
  { acceptsInputKinds }: Pick<ToolContext, 'acceptsInputKinds'>,
): readonly InputKind[] {
  return acceptsInputKinds.filter((kind) => isAllowed(kind, inputRequests, sampling));
}

function isAllowed(kind: InputKind, inputRequests: boolean, sampling: boolean): boolean {
  switch (kind) {
    case 'form':
    case 'url':
      return inputRequests;
    case 'sampling':
      return inputRequests && sampling;
    case 'roots':
      return false;
  }
}

/** The client capabilities of a request. Tasks are polled whatever the caller can do. */
export function declaredCapabilities(kinds: readonly InputKind[]): Readonly<Record<string, unknown>> {
  const modes = Object.fromEntries(
    kinds.filter((kind) => kind === 'form' || kind === 'url').map((mode) => [mode, {}]),
  );
  return {
    ...(Object.keys(modes).length === 0 ? {} : { elicitation: modes }),
    ...(kinds.includes('sampling') ? { sampling: {} } : {}),
    extensions: { [TASKS_EXTENSION]: {} },
  };
}

/**
 * Converts the input requests of an upstream to those of the call. Null: there are none to respond to, apart from those in
 * `skipped`. Throws `ToolFailure` for a request that the upstream may not make.
 */
export function inputRequiredOf(
  parts: FailureParts,
  given: unknown,
  kinds: readonly InputKind[],
  carry: Omit<InputCarry, 'kinds'>,
  skipped: Readonly<Record<string, unknown>> = {},
): InputRequired | null {
  const requests: Record<string, InputRequest> = {};
  const kindsByKey: Record<string, InputKind> = {};
  for (const [key, request] of Object.entries(isRecord(given) ? given : {})) {
    if (Object.hasOwn(skipped, key)) continue;
    const { method, params } = isRecord(request) ? request : {};
    const read = allowedRequest(parts, String(method), isRecord(params) ? params : {}, kinds);
    // The upstream decides what declining means. There is no form of it for a sampling request.
    requests[key] = kindOf(read) === 'sampling' ? read : { ...read, handlesDecline: true };
    kindsByKey[key] = kindOf(read);
  }
  if (Object.keys(requests).length === 0) return null;
  return new InputRequired(requests, { ...carry, kinds: kindsByKey } satisfies InputCarry);
}

function allowedRequest(
  { upstream, mask }: FailureParts,
  method: string,
  params: Readonly<Record<string, unknown>>,
  kinds: readonly InputKind[],
): InputRequest {
  const masked = mask.value(params) as Readonly<Record<string, unknown>>;
  const request = readInputRequest({ method, params: masked }, upstream);
  if (request === null) {
    const why = reason('upstream_asks_unknown', { upstream, method: mask.text(method).slice(0, 100) });
    throw new ToolFailure(failure('tool_failed', why));
  }
  const kind = kindOf(request);
  if (kinds.includes(kind)) return request;
  throw new ToolFailure(failure('input_unavailable', reason('upstream_may_not_ask', { upstream, kind })));
}

/** What the call keeps from an earlier run; null for its first one. */
export function carriedInput({ carried }: Pick<ToolContext, 'carried'>): InputCarry | null {
  return isRecord(carried) && isRecord(carried['kinds']) ? (carried as unknown as InputCarry) : null;
}

/** The responses of the caller as the upstream expects them, by key. */
export function inputResponses(
  { kinds }: InputCarry,
  { inputs }: Pick<ToolContext, 'inputs'>,
): Readonly<Record<string, unknown>> {
  const responses: Record<string, unknown> = {};
  for (const [key, kind] of Object.entries(kinds)) {
    const response = Object.hasOwn(inputs, key) ? inputs[key] : undefined;
    if (response !== undefined) responses[key] = responseJson(kind, response);
  }
  return responses;
}

/** Handles the requests of an upstream of an older protocol version while its call runs. Undefined: all are refused. */
export function serverRequestHandler(
  parts: FailureParts,
  kinds: readonly InputKind[],
  context: Pick<ToolContext, 'requestInput'>,
): McpRequest['onServerRequest'] {
  if (kinds.length === 0) return undefined;
  return async (method, params) => {
    const request = allowedRequest(parts, method, params, kinds);
    const kind = kindOf(request);
    try {
      const content = await context.requestInput(request);
      return responseJson(kind, { action: 'accept', content });
    } catch (error) {
      if (kind !== 'sampling' && error instanceof ToolFailure && error.failure.code === 'input_declined')
        return responseJson(kind, { action: 'decline', content: null });
      throw error;
    }
  };
}
