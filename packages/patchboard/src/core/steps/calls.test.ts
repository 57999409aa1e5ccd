import { describe, expect, it } from 'vitest';
import { accepted, anEngine, aPrincipal, aRequest, manualTool } from '../../../test/support/an-engine.ts';
import { settled } from '../../../test/support/fake-clock.ts';

const local = aPrincipal();

describe('waiting', () => {
  it('wakes with the ended call, or with the call as it is when time is over', async () => {
    const { tool, running } = manualTool('toy.slow');
    const { engine, clock } = await anEngine({ tools: [tool] });
    const call = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    const short = engine.calls.wait(local, call.id, 1000);
    await clock.advance(1200);
    expect((await short)?.state.name).toBe('EXECUTING');
    const long = engine.calls.wait(local, call.id, 60_000);
    await settled();
    running.get(call.id)!.resolve('done');
    expect((await long)?.state.name).toBe('COMPLETED');
  });
});

describe('following', () => {
  async function aSlowCall() {
    const { tool, running } = manualTool('toy.slow');
    const { engine } = await anEngine({ tools: [tool] });
    const { id } = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    await settled();
    return { engine, id, running };
  }

  it('goes with the call to its end, however long that takes', async () => {
    const { engine, id, running } = await aSlowCall();
    const following = engine.calls.follow(local, id);
    running.get(id)!.resolve('done');
    expect((await following)?.state.name).toBe('COMPLETED');
  });

  it.each(['while the call is under way', 'before the following began'])(
    'cancels the call when cancelOn fires %s',
    async (when) => {
      const { engine, id } = await aSlowCall();
      const stop = new AbortController();
      if (when === 'before the following began') stop.abort();
      const following = engine.calls.follow(local, id, { cancelOn: stop.signal });
      stop.abort();
      expect((await following)?.state.name).toBe('CANCELLED');
    },
  );

  it('leaves the call alone when until fires', async () => {
    const { engine, id } = await aSlowCall();
    const stop = new AbortController();
    const following = engine.calls.follow(local, id, { until: stop.signal });
    stop.abort();
    expect((await following)?.state.name).toBe('EXECUTING');
  });

  it('does not hear of an abort after the end', async () => {
    const { engine, id, running } = await aSlowCall();
    const stop = new AbortController();
    const following = engine.calls.follow(local, id, { cancelOn: stop.signal });
    running.get(id)!.resolve('done');
    await following;
    stop.abort();
    await settled();
    expect((await engine.calls.find(local, id))?.state.name).toBe('COMPLETED');
  });

  it('ends at once, with the call as it is, when the server closes or has closed', async () => {
    const { tool } = manualTool('toy.slow');
    const { engine, clock } = await anEngine({ tools: [tool], limits: { concurrencyPerRun: 1 } });
    await engine.submit(aRequest({ toolName: 'toy.slow' }), local);
    const { id } = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    const following = engine.calls.follow(local, id);
    const drained = engine.drain();
    expect((await following)?.state.name).toBe('PENDING');
    expect((await engine.calls.follow(local, id))?.state.name).toBe('PENDING');
    await clock.advance(60_000);
    await drained;
  });
});
