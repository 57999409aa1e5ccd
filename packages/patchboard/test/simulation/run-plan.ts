import { LEASE_MS } from '../../src/cluster/timing.ts';
import { isOpen } from '../../src/core/call/call.ts';
import { ACTORS } from './actors/all.ts';
import { CHECKS } from './checks/all.ts';
import type { Evidence, Violation } from './checks/check.ts';
import { countsOf, type Counts } from './counts.ts';
import type { Plan } from './plan.ts';
import { probe } from './probe.ts';
import { CALM_MS } from './profile.ts';
import { withoutRealTime } from './real-time.ts';
import { storeKind } from './stores/all.ts';
import { World } from './world.ts';

export interface Outcome {
  readonly plan: Plan;
  readonly violations: readonly Violation[];
  /** One line for each thing that happened. */
  readonly history: string;
  readonly counts: Counts;
}

const SLICE_MS = 2000;

/** Runs one simulation to its end, and checks what happened. Real time and real randomness throw meanwhile. */
export async function runPlan(plan: Plan): Promise<Outcome> {
  return await withoutRealTime(() => simulate(plan));
}

async function simulate(plan: Plan): Promise<Outcome> {
  const durable = await storeKind(plan.profile.store).open();
  const world = new World(plan, durable);
  const rejected = (error: unknown): void => world.problem('an unhandled rejection', error);
  process.on('unhandledRejection', rejected);
  try {
    for (const node of world.nodes) node.start();
    world.schedule();
    await world.kernel.run(plan.profile.activeMs);
    world.history.add('world', 'calm');
    world.network.heal();
    for (const { calm } of ACTORS) await calm?.(world);
    await untilQuiet(world);
    world.history.add('world', 'quiet');
    const violations = await check(world, true);
    await probe(world);
    violations.push(...(await check(world, false)));
    return { plan, violations, history: world.history.text(), counts: countsOf(world) };
  } finally {
    process.off('unhandledRejection', rejected);
    await durable.close();
  }
}

async function untilQuiet(world: World): Promise<void> {
  const { kernel } = world;
  const end = kernel.now + CALM_MS;
  // A node that could not reach the store may be taken over even now.
  if (world.nodes.length > 1) await kernel.run(kernel.now + 2 * LEASE_MS);
  do await kernel.run(kernel.now + SLICE_MS);
  while (kernel.now < end && (world.performing > 0 || holdsCalls(world) || (await hasOpenCalls(world))));
  // Timers that were armed for calls that have ended since.
  await kernel.run(kernel.now + SLICE_MS);
}

/** A node whose notifications were lost learns only later that a call has ended elsewhere. */
function holdsCalls({ nodes }: World): boolean {
  return nodes.some(({ incarnations }) =>
    incarnations.some(({ process: one, engine }) => !one.isDead && engine.load().open > 0),
  );
}

async function hasOpenCalls({ database }: World): Promise<boolean> {
  for await (const call of database.store.openCalls()) if (isOpen(call)) return true;
  return false;
}

async function check(world: World, isBeforeProbe: boolean): Promise<Violation[]> {
  const evidence: Evidence = { world, history: world.history, store: world.database.store };
  const violations: Violation[] = [];
  for (const { name, check: violationsOf, readsEngines = false } of CHECKS)
    if (readsEngines === isBeforeProbe)
      for (const problem of await violationsOf(evidence)) violations.push({ check: name, problem });
  return violations;
}
