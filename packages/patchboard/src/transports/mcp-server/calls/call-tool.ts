import type { Call } from '../../../core/call/call.ts';
import { waitsForInput } from '../../../core/call/input.ts';
import type { Failure } from '../../../core/failures.ts';
import { shownName } from '../../../core/tools/tool-names.ts';
import type { RegisteredTool } from '../../../core/tools/registered-tool.ts';
import { paramHeaderProblem } from '../../../protocols/mcp/param-headers.ts';
import { callReports, keepReports, requestReports } from './call-reports.ts';
import { callParams, callRequest } from './call-request.ts';
import { callResultJson, failureResult, type ResultMembers } from './call-result.ts';
import { continueCall } from './continue-call.ts';
import type { Exchange } from '../exchange.ts';
import { toRpcError } from '../messages/failures.ts';
import { holdCall } from './hold-call.ts';
import { giveResponses, readResponses } from './input-responses.ts';
import { membersOf, resultJson } from '../messages/result-json.ts';
import { fetchResult } from './result-tool.ts';
import { RESULT_TOOL_NAME } from './result-tool-name.ts';
import { MODERN_VERSION, TASKS_EXTENSION } from '../../../protocols/mcp/revisions.ts';
import { missingCapability, RpcError } from '../messages/rpc-error.ts';
import { serverRequests } from '../legacy/server-requests.ts';
import { headerMismatch } from '../messages/standard-headers.ts';

/** Older protocol versions have no error for a missing capability. */
const TASKS_ONLY = membersOf({
  content: [
    {
      type: 'text',
      text: `This tool runs as a task only: use MCP ${MODERN_VERSION} with ${TASKS_EXTENSION}.`,
    },
  ],
  isError: true,
});

/** `tools/call`: submits the call and waits for its result for a while. */
export async function callTool(exchange: Exchange): Promise<string | null> {
  const { params, era } = exchange;
  const { name, args } = callParams(exchange);
  if (name === RESULT_TOOL_NAME) return await fetchResult(exchange, args);
  const tool = await findTool(exchange, name);
  if (era === 'legacy' && tool?.task === 'always') return resultJson(era, TASKS_ONLY);
  if (era === 'modern' && tool !== undefined) checkParamHeaders(exchange, tool, args);
  if (era === 'modern' && params['requestState'] !== undefined) return await continueCall(exchange, tool);
  return await submitCall(exchange, tool);
}

async function submitCall(exchange: Exchange, tool: RegisteredTool | undefined): Promise<string | null> {
  const { context, principal, era } = exchange;
  const target = requestReports(exchange);
  const reports = target === null ? null : callReports(target);
  const request = callRequest(exchange);
  const requests = serverRequests(exchange);
  const caller = requests === null ? reports : requests.caller(reports);
  const submitted = await context.engine.submit(
    caller === null ? request : { ...request, caller },
    principal,
  );
  switch (submitted.kind) {
    case 'refused':
      if (submitted.failure.code === 'tool_not_found')
        throw unknownTool(exchange, submitted.failure, request.toolName);
      return send(failureResult(submitted.failure, null, era), era);
    case 'denied':
      return send(failureResult(submitted.failure, submitted.call, era), era);
    case 'accepted': {
      const { live } = submitted;
      const call = submitted.duplicate ? await repeated(exchange, submitted.call) : submitted.call;
      requests?.started(call);
      const stop = caller === null ? null : context.engine.followElsewhere(call, caller);
      try {
        return await holdCall(exchange, { call, live, tool, hasKey: request.idempotencyKey !== null });
      } finally {
        stop?.();
        target?.end();
        if (target !== null) reports?.targets.delete(target);
        // A request that repeats the key of a call is not the one that its reports go to.
        if (reports !== null && live !== null && !submitted.duplicate) keepReports(exchange, live, reports);
      }
    }
  }
}

/** A client that repeats its request with a key, instead of its state, may bring the responses that the call waits for. */
async function repeated(exchange: Exchange, call: Call): Promise<Call> {
  const responses = exchange.era === 'modern' && waitsForInput(call) ? readResponses(exchange) : null;
  if (responses === null) return call;
  await giveResponses(exchange, call, responses);
  return (await exchange.context.engine.calls.find(exchange.principal, call.id)) ?? call;
}

/** Undefined for an unknown tool: the engine records the refusal. */
async function findTool(exchange: Exchange, name: string): Promise<RegisteredTool | undefined> {
  const { context, principal, narrowing, client, era } = exchange;
  const tool = await context.engine.findTool(principal, name);
  if (tool === undefined) return undefined;
  if (!narrowing.allows(tool)) throw unknownTool(exchange, context.engine.unknownTool(principal, name), name);
  if (era === 'modern' && tool.task === 'always' && !client.hasTasks)
    throw missingCapability({ extensions: { [TASKS_EXTENSION]: {} } });
  return tool;
}

/** Throws if a header that repeats an argument differs from it: a proxy may have routed by the header. */
function checkParamHeaders({ headers }: Exchange, { inputSchema }: RegisteredTool, args: unknown): void {
  const name = paramHeaderProblem(inputSchema, args, headers);
  if (name !== null) throw headerMismatch(`${name} differs from its argument`);
}

/** In the specification's own words. Suggests a similar tool of the client's list, by the name it has there. */
function unknownTool(exchange: Exchange, failed: Failure, name: string): RpcError {
  const { context, principal, narrowing, settings } = exchange;
  const meant = failed.reasons?.find(({ code }) => code === 'tool_unknown_near')?.params?.['meant'];
  const tool = typeof meant === 'string' ? context.engine.tool(principal, meant) : undefined;
  const unknown = `Unknown tool: ${shownName(name)}`;
  if (tool === undefined || !narrowing.allows(tool)) return toRpcError(failed, unknown);
  const listed = settings.names === 'wire' ? tool.wireName : tool.name;
  return toRpcError(failed, `${unknown}; did you mean ${listed}?`);
}

function send(result: ResultMembers | RpcError, era: Exchange['era']): string {
  if (result instanceof RpcError) throw result;
  return callResultJson(result, era);
}
