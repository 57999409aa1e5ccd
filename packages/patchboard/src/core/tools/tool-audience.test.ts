import { describe, expect, it } from 'vitest';
import { anEngine, aPrincipal, aRequest, aServerTool } from '../../../test/support/an-engine.ts';
import type { Principal } from '../access/principal.ts';

const KEY = { id: 'key_1', expiresAt: null };
const ANONYMOUS = aPrincipal({ kind: 'agent', credential: null });
const AGENT = aPrincipal({ kind: 'agent', credential: KEY });
const OPERATOR = aPrincipal({ kind: 'operator', credential: KEY });

async function kindOf(metadata: Record<string, unknown>, principal: Principal): Promise<string> {
  const { engine } = await anEngine({ tools: [aServerTool({ name: 'toy.tool', metadata })] });
  const submitted = await engine.submit(aRequest({ toolName: 'toy.tool' }), principal);
  return submitted.kind === 'denied' ? submitted.failure.code : submitted.kind;
}

describe('for whom a tool is', () => {
  it.each<[string, Record<string, unknown>, Principal, string]>([
    ['anybody by default', {}, ANONYMOUS, 'accepted'],
    ['an AI, if it says so', { ai_callable: true }, AGENT, 'accepted'],
    ['no agent, if it is for people', { ai_callable: false }, AGENT, 'permission_denied'],
    [
      'no program of this machine, if it is for people',
      { ai_callable: false },
      aPrincipal(),
      'permission_denied',
    ],
    ['an operator, if it is for people', { ai_callable: false }, OPERATOR, 'accepted'],
    ['nobody unknown, if it requires to be shown', { requires_auth: true }, ANONYMOUS, 'permission_denied'],
    ['whoever shows a credential', { requires_auth: true }, AGENT, 'accepted'],
    ['local mode, which counts as shown', { requires_auth: true }, aPrincipal(), 'accepted'],
  ])('%s, and it is shown to nobody else', async (_name, metadata, principal, expected) => {
    expect(await kindOf(metadata, principal)).toBe(expected);
    const { engine } = await anEngine({ tools: [aServerTool({ name: 'toy.tool', metadata })] });
    const mayCall = expected === 'accepted';
    expect(engine.tools(principal).map(({ name }) => name)).toEqual(mayCall ? ['toy.tool'] : []);
    expect(engine.tool(principal, 'toy.tool') !== undefined).toBe(mayCall);
    if (!mayCall) expect((await engine.noTool(principal, 'toy.tool')).code).toBe(expected);
    expect(engine.unknownTool(principal, 'toy.tol').message.includes('did you mean toy.tool?')).toBe(mayCall);
  });
});
