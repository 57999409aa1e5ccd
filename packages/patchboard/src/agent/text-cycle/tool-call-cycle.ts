import { setImmediate as nextTurn } from 'node:timers/promises';
import { damagedRequests, inReplyOrder, toldResults, type DamagedRequest } from '../../protocols/answers.ts';
import type {
  ParsedToolRequest,
  ParseError,
  ToolCallingProtocol,
  ToolExecutionResult,
} from '../../protocols/protocol.ts';
import { protocolOf, type ProtocolId } from '../../protocols/protocols.ts';
import { parseReply, parseReplyInSlices } from '../../protocols/reply-reader.ts';
import { failureText } from '../../protocols/result-text.ts';
import { resolveToolCallConfig } from '../../protocols/tool-call-config.ts';
import { executeToolRequests, iterationOf, type ExecuteOptions } from './execute-requests.ts';

/** One round: what a reply asked for, and what became of it. */
export interface ToolCallCycleResult {
  readonly parsedRequests: readonly ParsedToolRequest[];
  /** Requests that could not be read; each has its result as well. At most a hundred, and one that counts the others. */
  readonly parseErrors: readonly ParseError[];
  /** In the order of the reply. Empty with `mode: 'manual'`. */
  readonly executionResults: readonly ToolExecutionResult[];
  readonly hasToolRequests: boolean;
  /** There are results for the model, and it may reply once more: `iteration` has not reached `maxIterations`. */
  readonly shouldContinue: boolean;
}

/** The requests in a reply. What is damaged is left out; `processToolCallCycle` answers it. */
export function parseToolRequests(
  finalText: string,
  protocol: ToolCallingProtocol | ProtocolId = 'vcp',
): ParsedToolRequest[] {
  return parseReply(protocolFor(protocol), finalText).requests;
}

const NOTHING = { parsedRequests: [], parseErrors: [], executionResults: [] } as const;

/** Reads a reply, runs what it asks for as the config says, and answers with both. */
export async function processToolCallCycle(
  assistantText: string,
  options: ExecuteOptions,
): Promise<ToolCallCycleResult> {
  const config = resolveToolCallConfig(options.config);
  const iteration = iterationOf(options);
  const nothing = { ...NOTHING, hasToolRequests: false, shouldContinue: false };
  if (!config.enabled) return nothing;
  const protocol = protocolOf(config.protocol);
  const { requests, errors } = await parseReplyInSlices(protocol, assistantText, nextTurn);
  if (requests.length + errors.length === 0) return nothing;
  const found = { parsedRequests: requests, parseErrors: errors, hasToolRequests: true };
  if (config.mode === 'manual') return { ...found, executionResults: [], shouldContinue: false };
  const results = await executeToolRequests(requests, options);
  const damaged = damagedRequests(assistantText, errors);
  const executionResults = inReplyOrder([
    ...damaged.map((request) => [request.offset, resultOf(request)] as const),
    ...results.map((result, at) => [requests[at]?.offset ?? 0, result] as const),
  ]);
  return { ...found, executionResults, shouldContinue: iteration < config.maxIterations };
}

/** What goes into the conversation next. The success of a request that wants no reply is left out. */
export function formatResultsForContext(
  results: readonly ToolExecutionResult[],
  protocol: ToolCallingProtocol | ProtocolId = 'vcp',
): string {
  return protocolFor(protocol).formatToolResults(toldResults(results));
}

function protocolFor(protocol: ToolCallingProtocol | ProtocolId): ToolCallingProtocol {
  return typeof protocol === 'string' ? protocolOf(protocol) : protocol;
}

function resultOf({ requestId, toolName, failure }: DamagedRequest): ToolExecutionResult {
  const { code } = failure;
  return { requestId, toolName, status: 'error', result: failureText(failure), durationMs: 0, code };
}
