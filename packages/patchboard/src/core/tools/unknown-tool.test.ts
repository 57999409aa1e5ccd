import { describe, expect, it } from 'vitest';
import { anEngine, aPrincipal, aRequest, aServerTool } from '../../../test/support/an-engine.ts';
import type { Guard } from '../access/guard.ts';
import type { Principal } from '../access/principal.ts';
import type { Engine } from '../engine.ts';

const GUARD: Guard = {
  revision: 0,
  lists: (_principal, { name }) => !name.startsWith('hidden'),
  listsName: () => true,
  registers: () => true,
  admit: () => ({ effect: 'allow', rule: 'test', reason: '', policyVersion: 0 }),
};

const ADA = aPrincipal({ kind: 'agent', id: 'ada', agentId: 'ada' });

async function setUp(): Promise<Engine> {
  const names = ['weather.query', 'hidden.query'];
  const { engine } = await anEngine({ guard: GUARD, tools: names.map((name) => aServerTool({ name })) });
  const lent = [{ name: 'lamp.switch', schema: { type: 'object' } }];
  await engine.clientTools.register('other', 'hall', lent);
  return engine;
}

async function messageTo(engine: Engine, principal: Principal, toolName: string): Promise<string> {
  const submitted = await engine.submit(aRequest({ toolName }), principal);
  return submitted.kind === 'refused' ? submitted.failure.message : submitted.kind;
}

describe('a tool that is not there', () => {
  it('fails with a suggestion of the most similar name', async () => {
    const engine = await setUp();
    expect(await messageTo(engine, ADA, 'weather.qeury')).toBe(
      'tool not found: weather.qeury; did you mean weather.query?',
    );
    expect(engine.unknownTool(ADA, 'wether__query').message).toContain('did you mean weather.query?');
  });

  it.each(['hidden.qeury', 'lamp.swich', 'lamp.switch'])(
    'fails without suggesting a tool that the caller may not call: %s',
    async (name) => {
      expect(await messageTo(await setUp(), ADA, name)).toBe(`tool not found: ${name}`);
    },
  );

  it('is denied, not reported as unknown, if it exists and the guard does not list it', async () => {
    const submitted = await (await setUp()).submit(aRequest({ toolName: 'hidden.query' }), ADA);
    expect(submitted).toMatchObject({
      kind: 'denied',
      failure: { code: 'permission_denied' },
      call: { state: { name: 'DENIED' }, decision: { effect: 'deny', rule: 'policy' } },
    });
  });
});
