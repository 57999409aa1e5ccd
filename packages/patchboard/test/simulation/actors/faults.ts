import { LEASE_MS } from '../../../src/cluster/timing.ts';
import type { Step } from '../plan.ts';
import type { Profile } from '../profile.ts';
import type { Stream } from '../random.ts';
import { STORE_FAULTS, type StoreFault } from '../store-faults.ts';
import type { World } from '../world.ts';
import type { Actor, StepDraft } from './actor.ts';

interface FaultData {
  readonly node: number;
  readonly ms: number;
  readonly fault: StoreFault;
  /** Whether the next process has other versions of the packs. */
  readonly otherPacks: boolean;
}

const WORDS = ['kill', 'pause', 'failover', 'stop', 'jump', 'store'] as const;

/** What happens to nodes and to the store: kills, pauses, takeovers, orderly stops, jumps of a wall clock, a faulty store. */
export const faults: Actor = { name: 'faults', plan, perform, calm };

function plan(stream: Stream, { activeMs, nodes }: Profile): StepDraft[] {
  const words = stream.weighted<readonly (typeof WORDS)[number][]>([
    [1, []],
    [6, WORDS],
    [2, ['kill']],
    [2, ['store']],
    [2, ['pause', 'failover']],
  ]);
  if (words.length === 0) return [];
  return Array.from({ length: stream.integer(1, 6) }, () => {
    const word = stream.pick(words);
    // So long that other nodes take over.
    const isLong = nodes > 1 && word === 'pause' && stream.chance(0.5);
    const data: FaultData = {
      node: stream.integer(0, nodes - 1),
      ms: isLong ? stream.integer(LEASE_MS, 3 * LEASE_MS) : stream.delay(10, 5000),
      fault: stream.pick(STORE_FAULTS),
      otherPacks: stream.chance(0.15),
    };
    return { at: stream.next() * activeMs, do: word, data: { ...data } };
  });
}

async function perform(world: World, { id, do: word, data }: Step): Promise<void> {
  const { node: number, ms, fault, otherPacks } = data as unknown as FaultData;
  const node = world.node(number);
  const { process } = node;
  if (word === 'store') {
    world.history.add(id, 'store', { fault, ms });
    world.database.faults.begin(fault, ms);
    return;
  }
  if (process === null || process.isDead) return;
  if (otherPacks && word !== 'pause' && word !== 'jump') node.packVersion += 1;
  if (word === 'jump') {
    const jumpMs = Math.round(ms * 3) - 4000;
    world.history.add(id, 'jump', { node: process.name, ms: jumpMs });
    process.clock.jump(jumpMs);
    return;
  }
  if (word === 'stop') return await stop(world, number);
  if (word === 'kill') {
    node.kill();
    await world.kernel.sleep(ms);
    if (!node.isUp) node.start();
    return;
  }
  // Other nodes take over a node that is paused for longer than its lease.
  const pauseMs = word === 'failover' && world.nodes.length > 1 ? ms + LEASE_MS : ms;
  world.history.add(id, word, { node: process.name, ms: pauseMs });
  process.pause();
  await world.kernel.sleep(pauseMs / 2);
  // The successor of a single node starts during the pause, and the first process wakes up later.
  if (word === 'failover' && world.nodes.length === 1 && node.process === process) node.start();
  await world.kernel.sleep(pauseMs / 2);
  world.history.add(id, 'wake', { node: process.name });
  process.wake();
}

/** As SIGTERM: the process drains, ends, and is started again. */
async function stop(world: World, number: number): Promise<void> {
  const node = world.node(number);
  const { process, engine } = node;
  if (process === null || engine === null) return;
  world.history.add(process.name, 'stop');
  const drained = new Promise<void>((resolve, reject) => {
    process.onKilled(resolve);
    process.enter(() => void node.drain(process).then(resolve, reject));
  });
  await drained;
  process.kill();
  if (node.process !== process) return;
  world.history.add(process.name, 'stopped');
  node.engine = null;
  node.start();
}

/** All faults are over, but for pauses: they end with their steps. */
function calm(world: World): void {
  world.database.heal();
  for (const node of world.nodes) if (!node.isUp) node.start();
}
