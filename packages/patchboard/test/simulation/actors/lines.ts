import type { Step } from '../plan.ts';
import type { Profile } from '../profile.ts';
import type { Stream } from '../random.ts';
import type { StoreFault } from '../store-faults.ts';
import type { World } from '../world.ts';
import type { Actor, StepDraft } from './actor.ts';

interface LineData {
  readonly node: number;
  readonly other: number;
  readonly fault: StoreFault;
  readonly ms: number;
}

/** Of one node only; a store that is full is full for all. */
const LINE_FAULTS: readonly StoreFault[] = ['slow', 'stalled', 'down'];

/** Faults between nodes that share a store: the connection of one node to the store, and the bus between two of them. */
export const lines: Actor = { name: 'lines', plan, perform, calm };

function plan(stream: Stream, { activeMs, nodes }: Profile): StepDraft[] {
  if (nodes === 1 || stream.chance(0.4)) return [];
  return Array.from({ length: stream.integer(1, 4) }, () => {
    const data: LineData = {
      node: stream.integer(0, nodes - 1),
      other: stream.integer(0, nodes - 1),
      fault: stream.pick(LINE_FAULTS),
      // Long enough for a takeover, sometimes.
      ms: stream.delay(50, 8000),
    };
    return { at: stream.next() * activeMs, do: stream.pick(['line', 'line', 'cut']), data: { ...data } };
  });
}

function perform(world: World, { id, do: word, data }: Step): void {
  const { node, other, fault, ms } = data as unknown as LineData;
  if (word === 'line') {
    const { name } = world.node(node);
    world.history.add(id, 'store', { node: name, fault, ms });
    world.database.faultsOf(name).begin(fault, ms);
    return;
  }
  const [a, b] = [world.node(node).writer, world.node(other).writer];
  if (a === null || b === null || a === b) return;
  world.history.add(id, 'cut', { between: [a, b], ms });
  world.bus.cut(a, b);
  world.kernel.after(ms, () => world.bus.heal(a, b));
}

function calm(world: World): void {
  world.bus.heal();
}
