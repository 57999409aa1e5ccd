import { expect, it } from 'vitest';
import { accepted, anEngine, aPrincipal, aRequest, manualTool } from '../../test/support/an-engine.ts';
import { settled } from '../../test/support/fake-clock.ts';

const local = aPrincipal();
const limits = { concurrencyPerRun: 1, concurrencyPerTenant: 3 };
const madeUp = aRequest({ toolName: 'toy.slow', countsInRun: false });

it('runs more calls of a generated run at once than a run may, up to the limit of the tenant', async () => {
  const { tool, running } = manualTool('toy.slow');
  const { engine } = await anEngine({ tools: [tool], limits });
  const states = [];
  for (const request of [madeUp, madeUp, madeUp, madeUp])
    states.push(accepted(await engine.submit(request, local)).state.name);
  expect(states).toEqual(['EXECUTING', 'EXECUTING', 'EXECUTING', 'PENDING']);
  expect(running.size).toBe(3);
});

it('takes no slot of the run from the calls that name it', async () => {
  const { tool } = manualTool('toy.slow');
  const { engine } = await anEngine({ tools: [tool], limits });
  const states = [];
  for (const request of [madeUp, aRequest({ toolName: 'toy.slow' }), aRequest({ toolName: 'toy.slow' })])
    states.push(accepted(await engine.submit(request, local)).state.name);
  expect(states).toEqual(['EXECUTING', 'EXECUTING', 'PENDING']);
});

it('is remembered over a restart', async () => {
  const { tool } = manualTool('toy.slow', { annotations: { idempotent: true } });
  const before = await anEngine({ tools: [tool], limits });
  const ids = [];
  for (const request of [madeUp, madeUp, madeUp])
    ids.push(accepted(await before.engine.submit(request, local)).id);
  const again = manualTool('toy.slow', { annotations: { idempotent: true } });
  await anEngine({ tools: [again.tool], limits, store: before.store, clock: before.clock });
  await settled();
  expect([...again.running.keys()].toSorted()).toEqual(ids.toSorted());
});
