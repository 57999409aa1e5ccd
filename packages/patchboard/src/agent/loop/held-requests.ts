import type { ToolUseBlock } from '../../protocols/messages.ts';
import type { AgentParts } from '../assembly.ts';
import { standing } from '../memory/interrupted.ts';
import type { Answer, PlannedRequest } from './tool-requests.ts';

/** Runs what waits with `mode: 'manual'`, once: a request that has a call already only gets its answer. */
export async function runHeldRequests(
  parts: AgentParts,
  signal: AbortSignal,
  plan: (request: ToolUseBlock) => PlannedRequest,
): Promise<Answer[]> {
  const { requests, transcript, options } = parts;
  const run = async (request: ToolUseBlock): Promise<Answer> => {
    const call = await standing(parts, request);
    if (call !== undefined) return await requests.follow(request, call, signal);
    return await requests.run(plan(request), signal);
  };
  if (options.parallel) return await Promise.all(transcript.openRequests.map(run));
  const answers: Answer[] = [];
  for (const request of transcript.openRequests) answers.push(await run(request));
  return answers;
}
