import { agentPrincipal } from './actors/principals.ts';
import type { SimulatedNode } from './simulated-node.ts';
import type { World } from './world.ts';

interface Group {
  readonly tool: string;
  readonly runs: readonly string[];
}

const GIVE_UP_MS = 5000;
const TOOL_MS = 300;
const GROUP_MS = 1500;
/** Numbers of the arguments of probes. */
const FIRST_NUMBER = 1_000_000;

/**
 * As many calls at a time as the slots of tenant, tool and runs allow: if one of them does not run at once, a slot was not
 * given back.
 */
const GROUPS: readonly Group[] = [
  { tool: 'server.plain', runs: ['probe-1', 'probe-2', 'probe-3', 'probe-4', 'probe-5'] },
  { tool: 'server.single', runs: ['probe-6'] },
  ...['run-1', 'run-2', 'run-3'].map((run) => ({ tool: 'server.plain', runs: [run, run] })),
];

/** Submits calls to each node when all is quiet, and stops the nodes. */
export async function probe(world: World): Promise<void> {
  const { kernel } = world;
  let number = FIRST_NUMBER;
  for (const { tool, runs } of GROUPS) {
    for (const node of world.nodes)
      for (const run of runs) {
        number += 1;
        world.track({ id: 'probe' }, submit(world, node, tool, run, number));
      }
    await kernel.run(kernel.now + GROUP_MS);
  }
  for (const node of world.nodes) drain(world, node);
  await kernel.run(kernel.now + GIVE_UP_MS * 2);
}

async function submit(
  world: World,
  node: SimulatedNode,
  tool: string,
  run: string,
  n: number,
): Promise<void> {
  const agent = 'agent-1';
  const args = { n, ms: TOOL_MS, ends: 'ok' };
  const reply = await world.request(`probe.${n}`, node, GIVE_UP_MS, (engine) =>
    engine.submit({ toolName: tool, runId: run, args }, agentPrincipal(agent)),
  );
  if (reply.kind !== 'reply') return world.history.add(node.name, 'probe', { tool, run, state: reply.kind });
  const { value } = reply;
  const state = value.kind === 'refused' ? value.failure.code : value.call.state.name;
  world.history.add(node.name, 'probe', { tool, run, state });
}

function drain(world: World, node: SimulatedNode): void {
  const { history } = world;
  const { process, engine } = node;
  if (process === null || engine === null) return history.add('probe', 'not drained', {});
  process.enter(() => {
    node.drain(process).then(
      () => history.add(process.name, 'drained', { timers: process.clock.armed }),
      (error: unknown) => world.problem(`drain of ${process.name}`, error),
    );
  });
}
