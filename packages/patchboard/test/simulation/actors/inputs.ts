import { openRequests } from '../../../src/core/call/input.ts';
import type { Call } from '../../../src/core/call/call.ts';
import { seenCall } from '../history.ts';
import type { Step } from '../plan.ts';
import type { Profile } from '../profile.ts';
import type { Stream } from '../random.ts';
import type { World } from '../world.ts';
import type { Actor, StepDraft } from './actor.ts';
import { agents } from './agents.ts';
import { ASKING_TOOLS, askingTools } from './asking-tools.ts';
import { planCalls } from './planned-calls.ts';
import { agentPrincipal } from './principals.ts';

interface RespondData {
  readonly agent: string;
  /** Which of the calls that wait for input, as a share of their number. */
  readonly which: number;
  readonly node: number;
  readonly thinksMs: number;
  readonly accepts: boolean;
  /** The number in the content. */
  readonly answer: number;
  /** Whether the response is sent again, which must not be accepted. */
  readonly again: boolean;
}

const FIRST_NUMBER = 3000;
const FIRST_ANSWER = 100;
const GIVE_UP_MS = 5000;
/** Answers that are sent again differ by this. */
const AGAIN = 1000;

/** Server tools that ask their callers, and callers who respond, decline, respond twice or too late. */
export const inputs: Actor = {
  name: 'inputs',
  plan,
  perform,
  packs: (world, process) =>
    world.profile.hasInputs ? [{ name: 'asking', tools: askingTools(world, process) }] : [],
};

function plan(stream: Stream, profile: Profile): StepDraft[] {
  if (!profile.hasInputs) return [];
  const calls = planCalls(stream, profile, {
    actor: 'inputs',
    count: stream.integer(2, 8),
    first: FIRST_NUMBER,
    tools: ASKING_TOOLS,
    args: (drawn) => ({ questions: drawn.integer(1, 2) }),
  });
  const responses = Array.from({ length: stream.integer(2, 16) }, (_, index) => {
    const data: RespondData = {
      agent: `agent-${stream.integer(1, 2)}`,
      which: stream.next(),
      node: stream.integer(0, profile.nodes - 1),
      thinksMs: stream.delay(0, 2500),
      accepts: stream.chance(0.85),
      answer: FIRST_ANSWER + index,
      again: stream.chance(0.3),
    };
    return { at: stream.next() * (profile.activeMs + 4000), do: 'respond', data: { ...data } };
  });
  return [...calls, ...responses];
}

async function perform(world: World, step: Step): Promise<void> {
  if (step.do !== 'respond') return await agents.perform(world, step);
  const data = step.data as unknown as RespondData;
  const principal = agentPrincipal(data.agent);
  const listed = await world.request(step.id, world.node(data.node), GIVE_UP_MS, (engine) =>
    engine.calls.list(principal, { states: ['INPUT_REQUIRED'], agentId: data.agent }, null, 50),
  );
  if (listed.kind !== 'reply') return;
  const { items } = listed.value;
  const call = items[Math.floor(data.which * items.length)];
  if (call === undefined) return;
  await world.kernel.sleep(data.thinksMs);
  await respond(world, step, call, data);
  if (data.again) await respond(world, step, call, { ...data, answer: data.answer + AGAIN });
}

async function respond(world: World, step: Step, call: Call, data: RespondData): Promise<void> {
  const [round] = openRequests(call);
  if (round === undefined) return;
  const { accepts, answer } = data;
  const given = {
    id: round.id,
    action: accepts ? 'accept' : 'decline',
    content: accepts ? { answer } : null,
  } as const;
  const to = world.node(data.node);
  const sent = { call: call.id, input: round.id, answer: accepts ? answer : null };
  world.history.add(step.id, 'respond', { to: to.name, ...sent });
  const reply = await world.request(step.id, to, GIVE_UP_MS, (engine) =>
    engine.calls.respond(agentPrincipal(data.agent), call.id, given),
  );
  if (reply.kind !== 'reply') return world.history.add(step.id, reply.kind, { ...reply, kind: 'respond' });
  const { value } = reply;
  if (value.ok) return world.history.add(step.id, 'responded', { ...sent, call: seenCall(value.value) });
  const current = value.call === undefined ? null : seenCall(value.call);
  world.history.add(step.id, 'not responded', { code: value.failure.code, call: current });
}
