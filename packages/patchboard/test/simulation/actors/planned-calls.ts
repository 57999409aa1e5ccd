import type { Profile } from '../profile.ts';
import type { Stream } from '../random.ts';
import type { StepDraft } from './actor.ts';

export interface PlannedCalls {
  /** The actor that performs them, by `agents.perform`. These steps must be its first ones. */
  readonly actor: string;
  readonly count: number;
  /** The number in the arguments of the first call: no other request may have it. */
  readonly first: number;
  readonly tools: readonly string[];
  /** Draws the arguments besides `n`. */
  readonly args: (stream: Stream) => Readonly<Record<string, unknown>>;
}

/** Draws calls of given tools, and what agents do with them. */
export function planCalls(stream: Stream, { activeMs, nodes }: Profile, given: PlannedCalls): StepDraft[] {
  const submits: { readonly id: string; readonly at: number; readonly agent: string }[] = [];
  return Array.from({ length: given.count }, (_, index) => {
    const node = stream.integer(0, nodes - 1);
    if (submits.length === 0 || stream.chance(0.7)) {
      const at = stream.next() * activeMs;
      const n = given.first + index;
      const agent = `agent-${stream.integer(1, 2)}`;
      submits.push({ id: `${given.actor}.${index + 1}`, at, agent });
      const data = {
        agent,
        run: `run-${stream.integer(1, 3)}`,
        tool: stream.pick(given.tools),
        args: { n, ...given.args(stream) },
        key: stream.chance(0.5) ? `key-${n}` : null,
        node,
      };
      return { at, do: 'submit', data };
    }
    const { id: of, at, agent } = stream.pick(submits);
    const word = stream.weighted([
      [2, 'wait'],
      [1, 'read'],
      [2, 'cancel'],
      [1, 'repeat'],
    ]);
    const data = { agent, of, node, ms: stream.integer(0, 4000) };
    return { at: at + stream.delay(0, 4000), do: word, data };
  });
}
