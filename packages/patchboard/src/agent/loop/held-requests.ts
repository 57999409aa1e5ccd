import type { ToolUseBlock } from '../../protocols/messages.ts';
import type { AgentParts } from '../assembly.ts';
import { recordedCall } from '../memory/interrupted.ts';
import type { RequestResult, PlannedRequest } from './tool-requests.ts';

/** Runs the requests held back with `mode: 'manual'`. A request that already has a call is not run again, only followed. */
export async function runHeldRequests(
  parts: AgentParts,
  signal: AbortSignal,
  plan: (request: ToolUseBlock) => PlannedRequest,
): Promise<RequestResult[]> {
  const { requests, transcript, options } = parts;
  const run = async (request: ToolUseBlock): Promise<RequestResult> => {
    const call = await recordedCall(parts, request);
    if (call !== undefined) return await requests.follow(request, call, signal);
    return await requests.run(plan(request), signal);
  };
  if (options.parallel) return await Promise.all(transcript.openRequests.map(run));
  const results: RequestResult[] = [];
  for (const request of transcript.openRequests) results.push(await run(request));
  return results;
}
