import type { CallView } from '@patchboard/wire';
import { expect, it } from 'vitest';
import type { Call } from '../../packages/patchboard/src/core/call/call.ts';
import type { Store } from '../../packages/patchboard/src/core/ports.ts';
import { nodeDigest } from '../../packages/patchboard/src/runtime/digest.ts';
import { memoryStore } from '../../packages/patchboard/src/store/memory/memory-store.ts';
import {
  accepted,
  anEngine,
  aPrincipal,
  aRequest,
} from '../../packages/patchboard/test/support/an-engine.ts';
import { mortalStore, type Alive } from '../../packages/patchboard/test/support/mortal.ts';
import { waitFor } from '../../packages/patchboard/test/support/wait-for.ts';
import { checkStore } from './check-store.ts';
import type { Effect } from './effects.ts';
import { Failpoint } from './failpoints.ts';
import { History } from './history.ts';
import { chaosPack, TOOLS } from './pack.ts';
import { faultyEffects, faultyStore, type PlantedFault } from './planted-faults.ts';

/** An engine with a planted fault, what its caller observed, and the effects outside of it. */
class Observed {
  readonly history = new History(true);
  readonly durable: Store = memoryStore({ digest: nodeDigest });
  readonly effects: Effect[] = [];
  readonly #alive: Alive = { yes: true };
  readonly #fault: PlantedFault | null;

  constructor(fault: PlantedFault | null) {
    this.#fault = fault;
  }

  /** Invokes a tool under one idempotency key. */
  async invoke(times: number, toolName: string = TOOLS.effect): Promise<Call> {
    const pack = chaosPack(
      faultyEffects((effect) => this.effects.push(effect), this.#fault),
      new Failpoint(null, 1),
    );
    const store = faultyStore(mortalStore(this.durable, this.#alive), this.#fault);
    const { engine } = await anEngine({ tools: pack.tools, store });
    const invocation = {
      n: 1,
      kind: 'keyed',
      acknowledged: new Set<string>(),
      sent: times,
      refused: 0,
    } as const;
    this.history.invocations.set(1, invocation);
    const request = aRequest({ toolName, args: { n: 1, ms: 0 }, idempotencyKey: 'key-1' });
    const calls: Call[] = [];
    for (let time = 0; time < times; time += 1) {
      const call = accepted(await engine.submit(request, aPrincipal()));
      invocation.acknowledged.add(call.id);
      calls.push(call);
    }
    const [first] = calls;
    if (first === undefined) throw new Error('nothing was invoked');
    return first;
  }

  async untilEnded(): Promise<void> {
    await waitFor(async () => {
      const open = [];
      for await (const call of this.durable.openCalls()) open.push(call.id);
      expect(open).toEqual([]);
    });
  }

  crash(): void {
    this.#alive.yes = false;
  }

  async violations(): Promise<readonly string[]> {
    await checkStore(() => Promise.resolve(this.durable), this.effects, this.history);
    return this.history.violations;
  }
}

async function observed(times: number, fault: PlantedFault | null = null): Promise<Observed> {
  const run = new Observed(fault);
  await run.invoke(times);
  await run.untilEnded();
  return run;
}

it('finds nothing wrong with an engine that keeps its promises', async () => {
  expect(await (await observed(3)).violations()).toEqual([]);
});

it('finds a call that was acknowledged before its commit, and lost', async () => {
  const run = new Observed('early-acknowledgement');
  const { id } = await run.invoke(1);
  run.crash();
  expect(await run.violations()).toContain(`${id} was acknowledged and is lost`);
});

it('finds an effect that happened twice', async () => {
  const violations = await (await observed(1, 'repeated-effect')).violations();
  expect(violations).toContainEqual(expect.stringContaining('is not idempotent and was executed 2 times'));
});

it('finds two calls with one idempotency key', async () => {
  const violations = await (await observed(2, 'forgotten-key')).violations();
  expect(violations).toContainEqual(expect.stringMatching(/^request 1 became 2 calls: tc_\w+,tc_\w+$/));
  expect(violations).toContainEqual(expect.stringMatching(/^request 1 got receipts for tc_\w+,tc_\w+$/));
});

it('finds a call that has not ended', async () => {
  const run = new Observed(null);
  const { id } = await run.invoke(1, TOOLS.stuck);
  expect(await run.violations()).toContainEqual(expect.stringContaining(`${id} has no single ending`));
});

it('finds a call that was refused as not recorded', async () => {
  const run = await observed(1);
  run.history.invocations.set(1, { n: 1, kind: 'quick', acknowledged: new Set(), sent: 1, refused: 1 });
  expect(await run.violations()).toContainEqual(
    expect.stringMatching(/^request 1 was refused as not recorded, and became tc_\w+$/),
  );
});

it('finds an ending that changed after it was read', async () => {
  const run = new Observed(null);
  const { id } = await run.invoke(1);
  await run.untilEnded();
  const seen = { tool_call_id: id, state: 'CANCELLED', timeline: [] } as unknown as CallView;
  run.history.sawCall(seen);
  run.history.sawCall({ ...seen, state: 'EXECUTING' } as CallView);
  const violations = await run.violations();
  expect(violations).toContainEqual(expect.stringContaining(`${id} is EXECUTING again after`));
  expect(violations).toContainEqual(expect.stringContaining('and is stored as COMPLETED'));
});

it('finds an execution without a record, and a record without an execution', async () => {
  const run = await observed(1);
  const [effect] = run.effects.splice(0);
  run.effects.push({ tool: TOOLS.effect, callId: 'tc_unknown', attempt: 1 });
  expect(await run.violations()).toEqual([
    'tc_unknown was executed and is not recorded',
    `${effect?.callId} has a result and was never executed`,
  ]);
});

it('finds a ledger whose rows were changed', async () => {
  const run = await observed(1);
  const { durable } = run;
  const readLedger: Store['readLedger'] = async (...given) =>
    (await durable.readLedger(...given)).map((one) =>
      one.row.seq === 1 ? { ...one, row: { ...one.row, at: one.row.at + 1 } } : one,
    );
  const changed = new Proxy(durable, {
    get: (target, name) => {
      if (name === 'readLedger') return readLedger;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
    },
  });
  await checkStore(() => Promise.resolve(changed), run.effects, run.history);
  expect(run.history.violations).toContainEqual(expect.stringMatching(/^ledger row 1: /));
});
