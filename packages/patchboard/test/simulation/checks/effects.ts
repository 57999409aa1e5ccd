import type { Call } from '../../../src/core/call/call.ts';
import { attemptsOf } from '../../../src/core/call/call.ts';
import type { Effect } from '../effects.ts';
import { grouped, storedCalls, type Check } from './check.ts';

/**
 * A tool runs at most once for a call, unless it is idempotent, and then once for each attempt. It never runs for a call
 * that was denied or ended as `not_started`, and a COMPLETED call has the result of an attempt that ran.
 */
export const effects: Check = {
  name: 'effects',
  check: async ({ world, store }) => {
    const begun = grouped(world.effects.begun, ({ callId }) => callId);
    const problems: string[] = [];
    const calls = await storedCalls(store);
    for (const call of calls) problems.push(...problemsOf(call, begun.get(call.id) ?? []));
    const ids = new Set(calls.map(({ id }) => id));
    for (const id of begun.keys())
      if (!ids.has(id)) problems.push(`a tool ran for ${id}, which is not stored`);
    return problems;
  },
};

function problemsOf(call: Call, begun: readonly Effect[]): string[] {
  const { id, toolName, state } = call;
  const problems: string[] = [];
  const count = `${toolName} ran ${begun.length} times for ${id}, which is ${state.name}`;
  const isIdempotent = toolName.endsWith('.idempotent');
  if (!isIdempotent && begun.length > 1) problems.push(count);
  if (isIdempotent && new Set(begun.map(({ attempt }) => attempt)).size !== begun.length)
    problems.push(`${count}: one attempt ran twice`);
  if (begun.length > attemptsOf(call) && isIdempotent)
    problems.push(`${count} with ${attemptsOf(call)} attempts`);
  const isNotStarted = 'error' in state && state.error.outcome === 'not_started';
  if (begun.length > 0 && (isNotStarted || state.name === 'DENIED')) problems.push(`${count} (not started)`);
  if (state.name !== 'COMPLETED') return problems;
  const numbers = begun.map(({ args }) => numberIn(args));
  if (!numbers.includes(numberIn(JSON.parse(state.resultJson))))
    problems.push(`${count} with ${state.resultJson}, not ${numbers.join()}`);
  return problems;
}

function numberIn(value: unknown): number {
  return (value as { readonly n: number }).n;
}
