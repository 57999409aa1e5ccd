import { ActiveWork } from '../../../src/agent/active-work.ts';
import type { AgentHost } from '../../../src/agent/agent-host.ts';
import { Agent } from '../../../src/agent/agent.ts';
import { LEASE_MS } from '../../../src/cluster/timing.ts';
import { messageOf } from '../../../src/core/failures.ts';
import type { ServerTool } from '../../../src/core/tools/server-tool.ts';
import { timeOrderedIds } from '../../../src/runtime/ids.ts';
import type { Step } from '../plan.ts';
import type { Profile } from '../profile.ts';
import type { Stream } from '../random.ts';
import { DELEGATED, promptOf, scriptedModel, type AgentTask } from '../scripted-model.ts';
import type { Incarnation } from '../simulated-node.ts';
import type { SimulatedProcess } from '../simulated-process.ts';
import type { World } from '../world.ts';
import type { Actor, StepDraft } from './actor.ts';
import { agentPrincipal } from './principals.ts';

/** One conversation. It goes on in the next process of its node or, with several nodes, at another one. */
export interface Talk {
  readonly id: string;
  /** The node that runs it now. */
  node: number;
  readonly task: AgentTask;
  isDone: boolean;
  /** The processes that have run it. */
  readonly ranIn: Set<SimulatedProcess>;
  readonly finish: () => void;
}

const FIRST_NUMBER = 4000;
const NUMBERS_OF_TALK = 40;
const RETRY_MS = 500;
const LOOK_MS = 1000;
const TOOL_NAMES = ['server.plain', 'server.idempotent', 'agents.delegate'] as const;

const talks: WeakMap<World, Talk[]> = new WeakMap();

/** Agents inside the process of a node, with a scripted model and a journal: they crash with it, and are resumed. */
export const inProcessAgents: Actor = {
  name: 'inProcessAgents',
  plan,
  perform,
  packs: (world, process) =>
    world.profile.hasAgents ? [{ name: 'agents', tools: [delegate(world, process)] }] : [],
  started: (world, process) => {
    if (world.nodes.length > 1) return;
    for (const talk of talksOf(world)) if (!talk.isDone) run(world, talk, process);
  },
};

export function talksOf(world: World): readonly Talk[] {
  return talks.get(world) ?? [];
}

function plan(stream: Stream, { hasAgents, activeMs, nodes }: Profile): StepDraft[] {
  if (!hasAgents) return [];
  return Array.from({ length: stream.integer(1, 2) }, (_, index) => {
    const task: AgentTask = {
      first: FIRST_NUMBER + index * NUMBERS_OF_TALK,
      count: stream.integer(1, 6),
      mayDelegate: stream.chance(0.7),
    };
    return { at: stream.next() * activeMs, do: 'talk', data: { task, node: stream.integer(0, nodes - 1) } };
  });
}

async function perform(world: World, step: Step): Promise<void> {
  const { task, node } = step.data as unknown as { readonly task: AgentTask; readonly node: number };
  let finish = (): void => {};
  const done = new Promise<void>((resolve) => (finish = resolve));
  const talk: Talk = { id: `talk-${step.id}`, node, task, isDone: false, ranIn: new Set(), finish };
  talks.set(world, [...talksOf(world), talk]);
  const { process, engine } = world.node(node);
  if (process !== null && engine !== null && !process.isDead) process.enter(() => run(world, talk, process));
  if (world.nodes.length > 1) await supervise(world, talk);
  await done;
}

/** Continues the conversation at another node when its process is gone, or stands still for so long that it is taken over. */
async function supervise(world: World, talk: Talk): Promise<void> {
  const stream = world.random.of('talk', talk.id);
  let { process } = world.node(talk.node);
  while (!talk.isDone) {
    await world.kernel.sleep(stream.delay(50, LOOK_MS));
    if (process !== null && process.isPaused) {
      await world.kernel.sleep(LEASE_MS);
      if (!process.isPaused) continue;
    } else if (process !== null && !process.isDead && hasStarted(talk, process)) continue;
    const number = stream.integer(0, world.nodes.length - 1);
    const next = world.node(number);
    if (next.process === null || next.engine === null || next.process.isDead) continue;
    process = next.process;
    talk.node = number;
    const { process: chosen } = next;
    chosen.enter(() => run(world, talk, chosen));
  }
}

/** Whether the conversation has run in the process. */
function hasStarted({ ranIn }: Talk, process: SimulatedProcess): boolean {
  return ranIn.has(process);
}

/** The conversation in one process, which may end at any point. */
function run(world: World, talk: Talk, process: SimulatedProcess): void {
  const incarnation = world.node(talk.node).incarnations.find((one) => one.process === process);
  if (incarnation === undefined) return;
  talk.ranIn.add(process);
  const host = hostOf(world, incarnation);
  const options = {
    board: { host },
    model: scriptedModel(world, process),
    name: 'talker',
    tools: TOOL_NAMES,
  };
  const isOver = (): boolean => talk.isDone || process.isDead || world.node(talk.node).process !== process;
  const attempt = async (): Promise<void> => {
    while (!isOver()) {
      try {
        world.history.add(process.name, 'agent runs', { agent: talk.id });
        const agent = await resumed(talk.id, options);
        const isNew = agent.messages.length === 0;
        if (isNew) await agent.send(promptOf(talk.task));
        else if (agent.isUnfinished) await agent.continue();
        if (isOver() || agent.isUnfinished) continue;
        world.history.add(process.name, 'agent done', { agent: talk.id });
        talk.isDone = true;
        talk.finish();
      } catch (error) {
        world.history.add(process.name, 'agent stopped', { agent: talk.id, error: messageOf(error) });
        await new Promise<void>((resolve) => void world.kernel.after(RETRY_MS, () => process.enter(resolve)));
      }
    }
  };
  attempt().catch((error: unknown) => world.problem(`agent ${talk.id}`, error));
}

/** An agent that has no journal is new. */
async function resumed(id: string, options: Parameters<typeof Agent.resume>[1]): Promise<Agent> {
  const entries = await options.board.host.store.readJournal(id, 0, 1);
  return entries.length === 0 ? new Agent({ ...options, id }) : await Agent.resume(id, options);
}

function hostOf(world: World, { process, engine, store }: Incarnation): AgentHost {
  const { clock } = process;
  return {
    engine,
    store,
    clock,
    ids: timeOrderedIds(clock, world.random.of('ids', process.name, 'agents')),
    log: { info: () => {}, warn: () => {}, error: () => {} },
    hooks: [],
    hookTimeoutMs: 1000,
    activeWork: new ActiveWork(clock, 1000),
    principal: (name) => agentPrincipal(name),
    redact: (value) => value,
  };
}

/** Starts a sub-agent. */
function delegate(world: World, process: SimulatedProcess): ServerTool {
  return {
    name: 'agents.delegate',
    description: 'starts a sub-agent',
    inputSchema: { type: 'object' },
    outputSchema: null,
    timeoutMs: 20_000,
    annotations: {},
    metadata: null,
    concurrency: null,
    execute: async (args, { callId, attempt, signal, agent }) => {
      const { n } = args as { readonly n: number };
      const effect = { tool: 'agents.delegate', callId, attempt, args };
      world.effects.begin(process, effect);
      const task = { first: n + DELEGATED, count: 2, mayDelegate: false };
      await agent?.spawn({ prompt: promptOf(task), callId, signal });
      world.effects.act(process, effect);
      return { n };
    },
  };
}
