import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  damagedRequests,
  inReplyOrder,
  resultsForModel,
  type DamagedRequest,
} from '../../protocols/request-results.ts';
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

/** The tool requests of one model reply and their results. */
export interface ToolCallCycleResult {
  readonly parsedRequests: readonly ParsedToolRequest[];
  /** Requests that could not be parsed; each also has a result. At most a hundred, plus one that counts the others. */
  readonly parseErrors: readonly ParseError[];
  /** In the order of the requests in the reply. Empty with `mode: 'manual'`. */
  readonly executionResults: readonly ToolExecutionResult[];
  readonly hasToolRequests: boolean;
  /** Whether there are results for the model and `iteration` is below `maxIterations`. */
  readonly shouldContinue: boolean;
}

/** Returns the requests in a reply, without damaged ones; `processToolCallCycle` reports those. */
export function parseToolRequests(
  finalText: string,
  protocol: ToolCallingProtocol | ProtocolId = 'vcp',
): ParsedToolRequest[] {
  return parseReply(protocolFor(protocol), finalText).requests;
}

const NOTHING = { parsedRequests: [], parseErrors: [], executionResults: [] } as const;

/** Parses a reply, runs its requests according to the config, and returns both. */
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
  const shouldContinue = iteration < config.maxIterations && resultsForModel(executionResults).length > 0;
  return { ...found, executionResults, shouldContinue };
}

/** Formats results for the next message. Leaves out the success of a request with `noReply`. */
export function formatResultsForContext(
  results: readonly ToolExecutionResult[],
  protocol: ToolCallingProtocol | ProtocolId = 'vcp',
): string {
  return protocolFor(protocol).formatToolResults(resultsForModel(results));
}

function protocolFor(protocol: ToolCallingProtocol | ProtocolId): ToolCallingProtocol {
  return typeof protocol === 'string' ? protocolOf(protocol) : protocol;
}

function resultOf({ requestId, toolName, failure }: DamagedRequest): ToolExecutionResult {
  const { code } = failure;
  return { requestId, toolName, status: 'error', result: failureText(failure), durationMs: 0, code };
}
