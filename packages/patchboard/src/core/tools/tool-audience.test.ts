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

describe('the audience of a tool', () => {
  it.each<[string, Record<string, unknown>, Principal, string]>([
    ['every caller by default', {}, ANONYMOUS, 'accepted'],
    ['an agent, if ai_callable is true', { ai_callable: true }, AGENT, 'accepted'],
    ['no agent, if ai_callable is false', { ai_callable: false }, AGENT, 'permission_denied'],
    ['no local program, if ai_callable is false', { ai_callable: false }, aPrincipal(), 'permission_denied'],
    ['an operator, if ai_callable is false', { ai_callable: false }, OPERATOR, 'accepted'],
    ['no anonymous caller, if it requires auth', { requires_auth: true }, ANONYMOUS, 'permission_denied'],
    ['a caller with a credential', { requires_auth: true }, AGENT, 'accepted'],
    ['local mode, which counts as authenticated', { requires_auth: true }, aPrincipal(), 'accepted'],
  ])('%s: the tool is callable and listed for no others', async (_name, metadata, principal, expected) => {
    expect(await kindOf(metadata, principal)).toBe(expected);
    const { engine } = await anEngine({ tools: [aServerTool({ name: 'toy.tool', metadata })] });
    const mayCall = expected === 'accepted';
    expect(engine.tools(principal).map(({ name }) => name)).toEqual(mayCall ? ['toy.tool'] : []);
    expect(engine.tool(principal, 'toy.tool') !== undefined).toBe(mayCall);
    if (!mayCall) expect((await engine.noTool(principal, 'toy.tool')).code).toBe(expected);
    expect(engine.unknownTool(principal, 'toy.tol').message.includes('did you mean toy.tool?')).toBe(mayCall);
  });
});
