import type { ToolSpec } from '@patchboard/wire';
import { SimulatedClient } from '../simulated-client.ts';
import { streamCalls } from '../simulated-client-stream.ts';
import type { Step } from '../plan.ts';
import type { Profile } from '../profile.ts';
import type { Stream } from '../random.ts';
import type { World } from '../world.ts';
import type { Actor, StepDraft } from './actor.ts';
import { agents } from './agents.ts';
import { planCalls } from './planned-calls.ts';

interface WorkData {
  readonly node: number;
  readonly untilMs: number;
}

const FIRST_NUMBER = 2000;
/** One worker stays so long after the faults are over. */
const STAY_MS = 5000;

const TOOLS: readonly ToolSpec[] = [
  { name: 'desk.plain', schema: { type: 'object' }, timeout_ms: 3000 },
  { name: 'desk.asks', schema: { type: 'object' }, timeout_ms: 3000 },
];

const clients: WeakMap<World, SimulatedClient> = new WeakMap();

/** A client that polls its queue over HTTP or has it streamed, and the calls that agents make to its tools. */
export const clientQueues: Actor = { name: 'clientQueues', plan, perform };

function plan(stream: Stream, profile: Profile): StepDraft[] {
  if (!profile.hasClientQueues) return [];
  const { activeMs, nodes } = profile;
  const calls = planCalls(stream, profile, {
    actor: 'clientQueues',
    count: stream.integer(3, 10),
    first: FIRST_NUMBER,
    tools: TOOLS.map(({ name }) => name),
    args: drawArgs,
  });
  const work = Array.from({ length: stream.integer(1, 2) }, (_, index) => {
    const at = index === 0 ? 1 : stream.next() * activeMs;
    const untilMs = index === 0 ? activeMs + STAY_MS : at + stream.integer(500, 4000);
    const data: WorkData = { node: stream.integer(0, nodes - 1), untilMs };
    return { at, do: 'work', data: { ...data } };
  });
  if (nodes === 1) return [...calls, ...work];
  // Calls that are polled are not sent over streams.
  const hasWork = stream.chance(0.5);
  return [...calls, ...(hasWork ? work : []), ...planStreams(stream, profile)];
}

/** Streams of the same client at several nodes. */
function planStreams(stream: Stream, { activeMs, nodes }: Profile): StepDraft[] {
  return Array.from({ length: stream.integer(1, 4) }, (_, index) => {
    const at = index === 0 ? 1 : stream.next() * activeMs;
    const data: WorkData = { node: stream.integer(0, nodes - 1), untilMs: at + stream.integer(300, 8000) };
    return { at, do: 'stream', data: { ...data } };
  });
}

function drawArgs(stream: Stream): Readonly<Record<string, unknown>> {
  const reports = stream.weighted([
    [6, 'once'],
    [2, 'twice'],
    [2, 'other'],
    [2, 'stale'],
    [1, 'never'],
  ]);
  const ms = stream.chance(0.7) ? stream.integer(0, 500) : stream.integer(500, 4000);
  return { ms, ends: stream.chance(0.85) ? 'ok' : 'fails', reports, acknowledges: stream.chance(0.7) };
}

async function perform(world: World, step: Step): Promise<void> {
  if (step.do !== 'work' && step.do !== 'stream') return await agents.perform(world, step);
  const { node, untilMs } = step.data as unknown as WorkData;
  const client = clients.get(world) ?? new SimulatedClient(world, 'desk', TOOLS);
  clients.set(world, client);
  if (step.do === 'work') await client.work(step.id, node, untilMs);
  else await streamCalls(world, client, { step: step.id, node, untilMs });
}
