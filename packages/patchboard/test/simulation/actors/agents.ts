import type { Call } from '../../../src/core/call/call.ts';
import type { Submitted } from '../../../src/core/call/call-request.ts';
import { seenCall } from '../history.ts';
import type { Step } from '../plan.ts';
import type { Profile } from '../profile.ts';
import type { Stream } from '../random.ts';
import type { Reply } from '../simulated-network.ts';
import type { SimulatedNode } from '../simulated-node.ts';
import type { World } from '../world.ts';
import type { Actor, StepDraft } from './actor.ts';
import { agentPrincipal, operatorPrincipal } from './principals.ts';
import { serverTools, SHARED_TOOLS, TOOLS, type ToolArgs } from './tools.ts';

interface SubmitData {
  readonly agent: string;
  readonly run: string;
  readonly tool: string;
  readonly args: ToolArgs;
  readonly key: string | null;
  readonly node: number;
}

/** Refers to the step that submitted the call. */
interface CallData {
  readonly agent: string;
  readonly of: string;
  readonly node: number;
  readonly ms: number;
}

const GIVE_UP_MS = 5000;
const MAX_ATTEMPTS = 4;

/** Agents that submit calls, repeat them with the same key, read them, wait for them, and cancel calls and runs. */
export const agents: Actor = { name: 'agents', plan, perform, packs };

function packs(world: World, process: Parameters<NonNullable<Actor['packs']>>[1]) {
  const { packVersion } = world.nodes.find(({ name }) => name === process.node)!;
  return [{ name: 'simulated', tools: serverTools(world, process, packVersion) }];
}

function plan(stream: Stream, { activeMs, nodes }: Profile): StepDraft[] {
  const steps: StepDraft[] = [];
  const submits: { readonly id: string; readonly data: SubmitData; readonly at: number }[] = [];
  const count = stream.integer(6, 40);
  // Most requests come in bursts, so that they meet each other.
  const bursts = Array.from({ length: stream.integer(1, 4) }, () => stream.next() * activeMs);
  while (steps.length < count) {
    const at = stream.chance(0.7) ? stream.pick(bursts) + stream.delay(0, 400) : stream.next() * activeMs;
    const node = stream.integer(0, nodes - 1);
    const id = `agents.${steps.length + 1}`;
    if (submits.length === 0 || stream.chance(0.45)) {
      const data = drawSubmit(stream, steps.length + 1, node, nodes > 1 ? SHARED_TOOLS : TOOLS);
      submits.push({ id, data, at });
      steps.push({ at, do: 'submit', data: { ...data } });
      continue;
    }
    const { data, id: of, at: submittedAt } = stream.pick(submits);
    const later = submittedAt + stream.delay(0, 4000);
    const word = stream.weighted([
      [3, 'wait'],
      [2, 'read'],
      [3, 'cancel'],
      [2, 'repeat'],
      [1, 'mismatch'],
      [1, 'cancel run'],
    ]);
    steps.push({ at: later, do: word, data: { agent: data.agent, of, node, ms: stream.integer(0, 4000) } });
  }
  return steps;
}

function drawSubmit(stream: Stream, n: number, node: number, tools: typeof TOOLS): SubmitData {
  const ms = stream.weighted([
    [3, 0],
    [5, stream.integer(1, 400)],
    [2, stream.integer(400, 5000)],
  ]);
  const ends = stream.weighted<ToolArgs['ends']>([
    [6, 'ok'],
    [1, 'fails'],
    [2, 'transient'],
  ]);
  return {
    agent: `agent-${stream.integer(1, 2)}`,
    run: `run-${stream.integer(1, 3)}`,
    tool: stream.pick(tools).name,
    args: { n, ms, ends },
    key: stream.chance(0.5) ? `key-${n}` : null,
    node,
  };
}

async function perform(world: World, step: Step): Promise<void> {
  if (step.do === 'submit') return await submit(world, step, step.data as unknown as SubmitData);
  const data = step.data as unknown as CallData;
  const submitted = world.plan.steps.find(({ id }) => id === data.of);
  if (submitted === undefined) return;
  const given = submitted.data as unknown as SubmitData;
  if (step.do === 'repeat' || step.do === 'mismatch') {
    if (given.key === null) return;
    const args = step.do === 'repeat' ? given.args : { ...given.args, n: -given.args.n };
    return await submit(world, step, { ...given, args, node: data.node });
  }
  if (step.do === 'cancel run') return await cancelRun(world, step, given, data.node);
  const id = world.calls.get(data.of);
  if (id !== undefined) await act(world, step, data, id);
}

/** Without a response, a request with a key is repeated, as clients do. */
async function submit(world: World, step: Step, data: SubmitData): Promise<void> {
  const { agent, run, tool, args, key } = data;
  const request = { toolName: tool, runId: run, args, idempotencyKey: key };
  const stream = world.random.of('agents', step.id);
  let { node: number } = data;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const node = world.node(number);
    world.history.add(step.id, 'submit', { to: node.name, agent, run, tool, args, key });
    const reply = await world.request(step.id, node, GIVE_UP_MS, (engine) =>
      engine.submit(request, agentPrincipal(agent)),
    );
    if (noteSubmitted(world, step, reply) || key === null) return;
    number += stream.integer(0, 1);
    await world.kernel.sleep(stream.delay(50, 1500));
  }
}

/** Returns whether there was a response. */
function noteSubmitted(world: World, step: Step, reply: Reply<Submitted>): boolean {
  if (reply.kind !== 'reply') {
    world.history.add(step.id, reply.kind, { ...reply, kind: 'submit' });
    return false;
  }
  const { value } = reply;
  if (value.kind === 'refused') {
    const { code, retryable } = value.failure;
    world.history.add(step.id, 'refused', { code });
    return !retryable;
  }
  const duplicate = value.kind === 'accepted' && value.duplicate;
  world.history.add(step.id, 'receipt', { call: seenCall(value.call), duplicate });
  if (!world.calls.has(step.id)) world.calls.set(step.id, value.call.id);
  return true;
}

async function act(world: World, step: Step, { agent, node, ms }: CallData, id: string): Promise<void> {
  const principal = agentPrincipal(agent);
  const to = world.node(node);
  world.history.add(step.id, step.do, { to: to.name, call: id, ...(step.do === 'wait' ? { ms } : {}) });
  if (step.do === 'cancel') {
    const reply = await world.request(step.id, to, GIVE_UP_MS, (engine) =>
      engine.calls.cancel(principal, id),
    );
    if (reply.kind !== 'reply') return world.history.add(step.id, reply.kind, { ...reply, kind: 'cancel' });
    const { value } = reply;
    const call = value.ok ? value.value : value.call;
    const data = value.ok ? {} : { code: value.failure.code };
    world.history.add(step.id, value.ok ? 'cancelled' : 'not cancelled', { ...data, call: seen(call) });
    return await read(world, step.id, world.node(node + 1), id);
  }
  const waitMs = step.do === 'wait' ? ms : 0;
  const reply = await world.request(step.id, to, waitMs + GIVE_UP_MS, (engine, signal) =>
    engine.calls.wait(principal, id, waitMs, { signal }),
  );
  if (reply.kind !== 'reply') return world.history.add(step.id, reply.kind, { ...reply, kind: step.do });
  world.history.add(step.id, 'seen', { call: seen(reply.value) });
}

/** A read at another node, at once after a response: it must not show an older version. */
export async function read(world: World, who: string, node: SimulatedNode, id: string): Promise<void> {
  world.history.add(who, 'read', { to: node.name, call: id });
  const reply = await world.request(who, node, GIVE_UP_MS, (engine) =>
    engine.calls.find(operatorPrincipal('reader'), id),
  );
  if (reply.kind !== 'reply') return world.history.add(who, reply.kind, { ...reply, kind: 'read' });
  world.history.add(who, 'seen', { call: seen(reply.value) });
}

async function cancelRun(
  world: World,
  step: Step,
  { agent, run }: SubmitData,
  number: number,
): Promise<void> {
  const node = world.node(number);
  world.history.add(step.id, 'cancel run', { to: node.name, agent, run });
  const reply = await world.request(step.id, node, GIVE_UP_MS, (engine) =>
    engine.runs.cancel(agentPrincipal(agent), run),
  );
  if (reply.kind !== 'reply') return world.history.add(step.id, reply.kind, { ...reply, kind: 'cancel run' });
  const { value } = reply;
  world.history.add(
    step.id,
    'run cancelled',
    value.ok ? { calls: value.value.cancelled } : { code: value.failure.code },
  );
}

function seen(call: Call | undefined): unknown {
  return call === undefined ? null : seenCall(call);
}
