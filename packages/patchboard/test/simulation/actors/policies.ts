import type { Effect } from '../../../src/core/access/policy/document.ts';
import type { ServerTool } from '../../../src/core/tools/server-tool.ts';
import type { Step } from '../plan.ts';
import type { Profile } from '../profile.ts';
import type { Stream } from '../random.ts';
import { accessOf } from '../simulated-engine.ts';
import type { SimulatedProcess } from '../simulated-process.ts';
import type { World } from '../world.ts';
import type { Actor, StepDraft } from './actor.ts';
import { agents } from './agents.ts';
import { planCalls } from './planned-calls.ts';
import { operatorPrincipal } from './principals.ts';

interface ChangeData {
  readonly effect: Effect;
  readonly node: number;
}

const FIRST_NUMBER = 7000;
/** Calls after a change have numbers from here on. */
const AFTER_CHANGE = 500;
const GIVE_UP_MS = 5000;
export const GOVERNED = 'governed.act';

/** Operators who change the policy of one tool, approve its calls with a grant, and revoke grants. */
export const policies: Actor = {
  name: 'policies',
  plan,
  perform,
  packs: (world, process) =>
    world.profile.hasPolicies ? [{ name: 'governed', tools: [governed(world, process)] }] : [],
};

function plan(stream: Stream, profile: Profile): StepDraft[] {
  if (!profile.hasPolicies) return [];
  const { activeMs, nodes } = profile;
  const calls = planCalls(stream, profile, {
    actor: 'policies',
    count: stream.integer(4, 14),
    first: FIRST_NUMBER,
    tools: [GOVERNED],
    args: () => ({}),
  });
  const changes = Array.from({ length: stream.integer(2, 10) }, () => {
    const word = stream.weighted([
      [3, 'policy'],
      [3, 'grant'],
      [2, 'revoke'],
    ]);
    const data: ChangeData = {
      effect: stream.pick(['allow', 'ask', 'ask', 'deny']),
      node: stream.integer(0, nodes - 1),
    };
    return { at: stream.next() * activeMs, do: word, data: { ...data } };
  });
  return [...calls, ...changes];
}

async function perform(world: World, step: Step): Promise<void> {
  const { effect, node } = step.data as unknown as ChangeData;
  if (step.do === 'policy') await changePolicy(world, step, effect, node);
  else if (step.do === 'grant') await grant(world, step, node);
  else if (step.do === 'revoke') await revoke(world, step, node);
  else await agents.perform(world, step);
}

async function changePolicy(world: World, step: Step, effect: Effect, node: number): Promise<void> {
  world.history.add(step.id, 'change', { to: world.node(node).name, effect });
  const document = { default: { rules: [{ tools: [GOVERNED], effect }] } };
  const reply = await world.request(step.id, world.node(node), GIVE_UP_MS, (engine) =>
    accessOf(engine).policies.replace(operatorPrincipal('operator-1'), document, null),
  );
  if (reply.kind !== 'reply') return world.history.add(step.id, reply.kind, { ...reply, kind: 'policy' });
  const { value } = reply;
  if (!('version' in value)) return world.history.add(step.id, 'policy refused', { code: value.code });
  world.history.add(step.id, 'policy changed', { version: value.version, effect });
  await callAtAnother(world, step, node);
}

/** A call at another node, at once after a change: it must be decided by it. */
async function callAtAnother(world: World, { id, at }: Step, node: number): Promise<void> {
  if (world.nodes.length === 1) return;
  const n = FIRST_NUMBER + AFTER_CHANGE + Number(id.split('.')[1]);
  const data = { agent: 'agent-1', run: 'run-1', tool: GOVERNED, args: { n }, key: null, node: node + 1 };
  await agents.perform(world, { id: `${id}.call`, actor: 'policies', at, do: 'submit', data });
}

/** Approves the oldest call of the tool that waits, and all later ones. */
async function grant(world: World, step: Step, node: number): Promise<void> {
  const principal = operatorPrincipal('operator-1');
  const listed = await world.request(step.id, world.node(node), GIVE_UP_MS, (engine) =>
    engine.calls.list(principal, { states: ['APPROVAL_REQUIRED'] }, null, 50),
  );
  const call =
    listed.kind === 'reply' ? listed.value.items.find((one) => one.toolName === GOVERNED) : undefined;
  if (call === undefined || call.approval === null) return;
  const { digest } = call.approval;
  const { n } = JSON.parse(call.argsJson) as { readonly n: number };
  world.history.add(step.id, 'decide', { to: world.node(node).name, call: call.id, decision: 'allow', n });
  const given = { scope: 'tool', when: [], thisAgentOnly: false, lifetimeMs: null } as const;
  const reply = await world.request(step.id, world.node(node), GIVE_UP_MS, (engine) =>
    engine.calls.decide(principal, call.id, { decision: 'allow', digest, note: null, grant: given }),
  );
  if (reply.kind !== 'reply') return world.history.add(step.id, reply.kind, { ...reply, kind: 'grant' });
  world.history.add(step.id, reply.value.ok ? 'granted' : 'not granted', { call: call.id });
}

async function revoke(world: World, step: Step, node: number): Promise<void> {
  const principal = operatorPrincipal('operator-1');
  world.history.add(step.id, 'change', { to: world.node(node).name });
  const reply = await world.request(step.id, world.node(node), GIVE_UP_MS, async (engine) => {
    const { grants } = accessOf(engine);
    const [first] = grants.list(principal);
    return first === undefined ? null : await grants.revoke(principal, first.id);
  });
  if (reply.kind !== 'reply') return world.history.add(step.id, reply.kind, { ...reply, kind: 'revoke' });
  if (reply.value === null || !('id' in reply.value)) return;
  world.history.add(step.id, 'revoked', { grant: reply.value.id });
  await callAtAnother(world, step, node);
}

function governed(world: World, process: SimulatedProcess): ServerTool {
  return {
    name: GOVERNED,
    description: 'its policy changes',
    inputSchema: { type: 'object' },
    outputSchema: null,
    timeoutMs: 2000,
    annotations: {},
    metadata: null,
    concurrency: null,
    execute: (args, { callId, attempt }) => {
      const effect = { tool: GOVERNED, callId, attempt, args };
      world.effects.begin(process, effect);
      world.effects.act(process, effect);
      return { n: (args as { readonly n: number }).n };
    },
  };
}
