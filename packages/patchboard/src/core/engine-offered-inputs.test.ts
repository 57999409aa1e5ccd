import { describe, expect, it } from 'vitest';
import { accepted, anEngine, aRequest, manualTool } from '../../test/support/an-engine.ts';
import { asked, CITY, holding, me, PARIS, returning, stateOf } from '../../test/support/asking-tools.ts';
import type { Call } from './call/call.ts';
import { InputRequired, openRequests } from './call/input.ts';
import type { ResponsesByKey } from './call/offered-inputs.ts';
import type { Store } from './ports.ts';

const GIVEN = { action: 'accept', content: { city: 'Paris' } } as const;
const LINK = { message: 'Pay', url: 'https://pay.test/' } as const;

async function kindsOf(store: Store, { id }: Call): Promise<string[]> {
  const rows = await store.readLedger({ callId: id }, 0, 50);
  return rows.map(({ row }) => row.kind);
}

describe('responses that come with a request', () => {
  it('are used when the tool returns the request, without asking the caller', async () => {
    const tool = returning();
    const fixture = await asked(tool, {}, { inputs: { city: GIVEN } });
    expect(await stateOf(fixture, fixture.call)).toMatchObject({
      name: 'COMPLETED',
      resultJson: '{"said":{"city":"Paris"},"carried":{"step":1}}',
    });
    expect(tool.runs.map(({ attempt }) => attempt)).toEqual([1, 1]);
    const ended = await fixture.engine.calls.find(me, fixture.call.id);
    expect(ended?.timeline.map(({ state }) => state)).toEqual([
      'PENDING',
      'EXECUTING',
      'INPUT_REQUIRED',
      'EXECUTING',
      'COMPLETED',
    ]);
    expect(ended?.inputs).toMatchObject([
      { id: 'in_1', key: 'city', response: { action: 'accept', contentJson: '{"city":"Paris"}' } },
    ]);
    expect(ended).not.toHaveProperty('offered');
    expect(await kindsOf(fixture.store, fixture.call)).toEqual([
      'call.state',
      'call.state',
      'call.state',
      'input_required',
      'input_given',
      'call.state',
      'call.state',
    ]);
    expect(fixture.engine.load()).toMatchObject({ open: 0, executing: 0 });
  });

  it('are validated: one that does not fit is requested', async () => {
    const inputs = { city: { action: 'accept', content: { city: 7 } } } as const;
    const fixture = await asked(returning(), {}, { inputs });
    expect(fixture.call.state.name).toBe('INPUT_REQUIRED');
    expect(openRequests(fixture.call)).toMatchObject([{ id: 'in_1', key: 'city' }]);
    expect(await fixture.engine.calls.respond(me, fixture.call.id, PARIS)).toMatchObject({ ok: true });
    expect(await stateOf(fixture, fixture.call)).toMatchObject({ name: 'COMPLETED' });
  });

  it('are used where they are there; the others are requested, and unknown keys are ignored', async () => {
    const tool = returning({
      execute: (_args, { inputs }) =>
        'city' in inputs && 'pay' in inputs ? inputs : new InputRequired({ city: CITY, pay: LINK }),
    });
    const inputs = { pay: { action: 'accept', content: 'ignored' }, other: GIVEN } as const;
    const fixture = await asked(tool, {}, { inputs });
    expect(openRequests(fixture.call).map(({ key }) => key)).toEqual(['city']);
    await fixture.engine.calls.respond(me, fixture.call.id, PARIS);
    expect(await stateOf(fixture, fixture.call)).toMatchObject({
      resultJson: JSON.stringify({
        city: { action: 'accept', content: { city: 'Paris' } },
        pay: { action: 'accept', content: null },
      }),
    });
  });

  it('decline: the call ends, unless the tool handles it', async () => {
    const inputs = { city: { action: 'decline', content: null } } as const;
    const refused = await asked(returning(), {}, { inputs });
    expect(await stateOf(refused, refused.call)).toMatchObject({ error: { code: 'input_declined' } });
    const tool = returning({
      execute: (_args, given) =>
        given.inputs['city'] ?? new InputRequired({ city: { ...CITY, handlesDecline: true } }),
    });
    const handled = await asked(tool, {}, { inputs });
    expect(await stateOf(handled, handled.call)).toMatchObject({
      resultJson: '{"action":"decline","content":null}',
    });
  });

  it('are used once: a tool that asks again asks the caller', async () => {
    const tool = returning({ execute: () => new InputRequired({ city: CITY }) });
    const fixture = await asked(tool, {}, { inputs: { city: GIVEN } });
    expect(fixture.call.inputs).toHaveLength(2);
    expect(openRequests(fixture.call)).toMatchObject([{ id: 'in_2' }]);
  });

  it('serve a caller that cannot be asked', async () => {
    const fixture = await asked(returning(), {}, { inputs: { city: GIVEN }, acceptsInput: false });
    expect(await stateOf(fixture, fixture.call)).toMatchObject({ name: 'COMPLETED' });
    const without = await asked(returning(), {}, { inputs: {}, acceptsInput: false });
    expect(await stateOf(without, without.call)).toMatchObject({ error: { code: 'input_unavailable' } });
  });

  it('are no responses to held requests', async () => {
    const fixture = await asked(holding(), {}, { inputs: { input: GIVEN } });
    expect(openRequests(fixture.call)).toMatchObject([{ id: 'in_1', key: 'input' }]);
  });

  it('wait with the call over a restart', async () => {
    const { tool } = manualTool('ask', { annotations: { idempotent: true } });
    const before = await asked(tool, {}, { inputs: { city: GIVEN } });
    const again = returning({ annotations: { idempotent: true } });
    const { store, clock } = before;
    const after = await anEngine({ tools: [{ ...again, timeoutMs: tool.timeoutMs }], store, clock });
    expect(await stateOf(after, before.call)).toMatchObject({ name: 'COMPLETED' });
  });

  it('count as bytes of open calls', async () => {
    const content = { city: 'x'.repeat(10_000) };
    const limits = { openBytesPerTenant: 10_000 };
    const next = aRequest({ toolName: 'ask' });
    const lean = await asked(manualTool('ask').tool, { limits });
    expect(await lean.engine.submit(next, me)).toMatchObject({ kind: 'accepted' });
    const inputs = { city: { action: 'accept', content } } as const;
    const full = await asked(manualTool('ask').tool, { limits }, { inputs });
    expect(await full.engine.submit(next, me)).toMatchObject({
      kind: 'refused',
      failure: { reasons: [{ code: 'open_bytes_of_tenant' }] },
    });
  });

  it('are bounded', async () => {
    const { engine } = await anEngine({ tools: [returning()] });
    const submit = async (inputs: ResponsesByKey) =>
      await engine.submit(aRequest({ toolName: 'ask', inputs }), me);
    const many = Object.fromEntries(Array.from({ length: 21 }, (_each, at) => [`k${at}`, GIVEN]));
    expect(await submit(many)).toMatchObject({
      kind: 'refused',
      failure: { code: 'body_invalid', reasons: [{ code: 'inputs_too_many', params: { count: 20 } }] },
    });
    expect(await submit({ city: { action: 'accept', content: 'x'.repeat(65_536) } })).toMatchObject({
      kind: 'refused',
      failure: { code: 'too_large' },
    });
  });

  it('are no part of what an idempotency key compares', async () => {
    const { engine } = await anEngine({ tools: [returning()] });
    const request = aRequest({ toolName: 'ask', idempotencyKey: 'k' });
    const { id } = accepted(await engine.submit(request, me));
    expect(await engine.submit({ ...request, inputs: { city: GIVEN } }, me)).toMatchObject({
      kind: 'accepted',
      duplicate: true,
      call: { id },
    });
  });
});
