import { loadResumeState } from '../../../src/agent/memory/resume-state.ts';
import type { ContentBlock } from '../../../src/protocols/messages.ts';
import { talksOf } from '../actors/in-process-agents.ts';
import { roundOf } from '../scripted-model.ts';
import type { Check } from './check.ts';

/**
 * An agent that has finished has made each of its requests exactly once, in order, over all crashes; each request is one
 * recorded call with one result, unless it was refused.
 */
export const journals: Check = {
  name: 'journals',
  check: async ({ world, store }) => {
    const problems: string[] = [];
    for (const { id, task, isDone } of talksOf(world)) {
      if (!isDone) {
        problems.push(`agent ${id} has not finished`);
        continue;
      }
      const { messages } = await loadResumeState(store, id);
      const blocks = messages.flatMap(({ content }): readonly ContentBlock[] => content);
      const requested = blocks.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
      const numbers = requested.map(({ input }) => (input as { readonly n: number }).n);
      // A crash may cut a reply off after its first request.
      const rounds = Array.from({ length: task.count }, (_, round) => roundOf(task, round));
      const expected = rounds.flatMap((round) =>
        round.map(({ n }) => n).filter((n, index) => index === 0 || numbers.includes(n)),
      );
      if (numbers.join() !== expected.join())
        problems.push(`agent ${id} requested ${numbers.join()}, not ${expected.join()}`);
      for (const { id: request, callId } of requested) {
        const results = blocks.flatMap((block) =>
          block.type === 'tool_result' && block.tool_use_id === request ? [block] : [],
        );
        if (results.length !== 1) problems.push(`agent ${id} has ${results.length} results of ${request}`);
        // A request that was refused has no call.
        if (results[0]?.is_error !== true && (await store.findCall(callId)) === undefined)
          problems.push(`agent ${id}: ${request} is call ${callId}, which is not stored`);
      }
    }
    return problems;
  },
};
