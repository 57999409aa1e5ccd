import type { Call } from '../../../src/core/call/call.ts';
import type { OperatorDecision } from '../../../src/core/steps/approvals.ts';
import { seenCall } from '../history.ts';
import type { Step } from '../plan.ts';
import type { Profile } from '../profile.ts';
import type { Stream } from '../random.ts';
import type { World } from '../world.ts';
import type { Actor, StepDraft } from './actor.ts';
import { read } from './agents.ts';
import { operatorPrincipal } from './principals.ts';
import type { ToolArgs } from './tools.ts';

interface DecideData {
  readonly operator: string;
  readonly decision: 'allow' | 'edit' | 'deny';
  /** Which of the calls that wait, as a share of their number. */
  readonly which: number;
  readonly thinksMs: number;
  readonly node: number;
  /** Number that the edited arguments contain. */
  readonly edit: number;
}

const GIVE_UP_MS = 5000;
/** Edited arguments have numbers that no request has. */
const FIRST_EDIT = 10_000;

/** Operators who look at the calls that wait for approval, and approve, edit or deny one of them, often at the same time. */
export const operators: Actor = { name: 'operators', plan, perform };

function plan(stream: Stream, { activeMs, nodes }: Profile): StepDraft[] {
  const steps: StepDraft[] = [];
  const count = stream.integer(0, 8);
  while (steps.length < count) {
    const at = stream.next() * (activeMs + 3000);
    const which = stream.next();
    const rivals = stream.chance(0.4) ? 2 : 1;
    for (let rival = 0; rival < rivals; rival += 1) {
      const decision = stream.weighted<DecideData['decision']>([
        [4, 'allow'],
        [2, 'edit'],
        [2, 'deny'],
      ]);
      const data: DecideData = {
        operator: `operator-${rival + 1}`,
        decision,
        which,
        thinksMs: stream.delay(0, 1500),
        node: stream.integer(0, nodes - 1),
        edit: FIRST_EDIT + steps.length,
      };
      steps.push({ at, do: 'decide', data: { ...data } });
    }
  }
  return steps;
}

async function perform(world: World, step: Step): Promise<void> {
  const { operator, decision, which, thinksMs, node, edit } = step.data as unknown as DecideData;
  const principal = operatorPrincipal(operator);
  const to = world.node(node);
  const listed = await world.request(step.id, to, GIVE_UP_MS, (engine) =>
    engine.calls.list(principal, { states: ['APPROVAL_REQUIRED'] }, null, 50),
  );
  if (listed.kind !== 'reply') return;
  const { items } = listed.value;
  const call: Call | undefined = items[Math.floor(which * items.length)];
  if (call === undefined || call.approval === null) return;
  await world.kernel.sleep(thinksMs);
  const args = JSON.parse(call.argsJson) as ToolArgs;
  const given: OperatorDecision = {
    decision: decision === 'deny' ? 'deny' : 'allow',
    digest: call.approval.digest,
    note: null,
    ...(decision === 'edit' ? { edit: { args: { ...args, n: edit } } } : {}),
  };
  world.history.add(step.id, 'decide', {
    to: to.name,
    call: call.id,
    decision,
    n: decision === 'edit' ? edit : args.n,
  });
  const reply = await world.request(step.id, to, GIVE_UP_MS, (engine) =>
    engine.calls.decide(principal, call.id, given),
  );
  if (reply.kind !== 'reply') return world.history.add(step.id, reply.kind, { ...reply, kind: 'decide' });
  const { value } = reply;
  if (value.ok) {
    world.history.add(step.id, 'decided', { call: seenCall(value.value) });
    return await read(world, step.id, world.node(node + 1), call.id);
  }
  const current = value.call === undefined ? null : seenCall(value.call);
  world.history.add(step.id, 'not decided', { code: value.failure.code, call: current });
}
