import type { Call } from '../../../src/core/call/call.ts';
import { callSeenIn, grouped, storedCalls, type Check, type Evidence } from './check.ts';

/**
 * Each input request takes at most one response. An accepted one is stored, and the tool gets it exactly once unless the call
 * ends otherwise; a tool gets no answer that no caller sent.
 */
export const inputs: Check = {
  name: 'inputs',
  check: async (evidence) => {
    const problems: string[] = [];
    for (const call of await storedCalls(evidence.store)) problems.push(...problemsOf(evidence, call));
    return problems;
  },
};

function problemsOf({ history }: Evidence, call: Call): string[] {
  const { id, inputs: rounds, state, toolName } = call;
  if (rounds.length === 0) return [];
  const problems: string[] = [];
  const accepted = history.of('responded').filter((entry) => callSeenIn(entry)?.id === id);
  for (const [input, same] of grouped(accepted, ({ data }) => data['input'])) {
    if (same.length > 1) problems.push(`${same.length} responses to ${String(input)} of ${id} were accepted`);
    const stored = rounds.find((round) => round.id === input)?.response ?? null;
    const answer = stored === null ? undefined : answerIn(stored.contentJson);
    if (answer !== same[0]?.data['answer'])
      problems.push(
        `${id}: ${JSON.stringify(same[0]?.data)} was accepted, ${JSON.stringify(stored)} is stored`,
      );
  }
  const stored = rounds.map(({ response }) => answerIn(response?.contentJson ?? null));
  const received = history.of('answer received').filter(({ data }) => data['call'] === id);
  for (const [answer, times] of grouped(received, ({ data }) => data['answer'])) {
    if (!stored.includes(answer))
      problems.push(`${id} got the answer ${String(answer)}, which is not stored`);
    if (times.length > 1 && !toolName.endsWith('.idempotent'))
      problems.push(`${id} got the answer ${String(answer)} ${times.length} times`);
  }
  if (state.name !== 'COMPLETED') return problems;
  const { answers } = JSON.parse(state.resultJson) as { readonly answers: readonly unknown[] };
  const last = rounds.slice(-answers.length).map(({ response }) => answerIn(response?.contentJson ?? null));
  if (JSON.stringify(answers) !== JSON.stringify(last))
    problems.push(`${id} COMPLETED with ${state.resultJson}, and the responses are ${JSON.stringify(last)}`);
  return problems;
}

function answerIn(contentJson: string | null): unknown {
  return contentJson === null ? null : (JSON.parse(contentJson) as { readonly answer: unknown }).answer;
}
