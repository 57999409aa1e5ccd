import type { CallStateName } from '@patchboard/wire';
import type { TracedCall } from './traced-call.ts';

/** A call for tests. `states`: when it entered which, in milliseconds. */
export function aTracedCall(
  id: string,
  given: {
    readonly parent?: string | null;
    readonly at?: number;
    readonly states?: readonly (readonly [CallStateName, number, string?, number?])[];
  } = {},
): TracedCall {
  const { parent = null, at = 0, states = [['COMPLETED', at]] } = given;
  const [first, ...others] = states.map(([state, time, code = '', attempt]) => ({
    state,
    at: time,
    attempt: attempt ?? null,
    code,
  }));
  if (first === undefined) throw new Error('a call has a state');
  const last = others.at(-1) ?? first;
  return {
    id,
    run: 'run',
    tool: 'toy.echo',
    agent: 'planner',
    parent,
    state: last.state,
    code: last.code,
    error: null,
    args: '',
    steps: [first, ...others],
  };
}
