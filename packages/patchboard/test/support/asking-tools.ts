import type { Principal } from '../../src/core/access/principal.ts';
import type { Call } from '../../src/core/call/call.ts';
import { InputRequired } from '../../src/core/call/input.ts';
import type { ServerTool, ToolContext } from '../../src/core/tools/server-tool.ts';
import { accepted, anEngine, aPrincipal, aRequest, aServerTool, type EngineFixture } from './an-engine.ts';
import { settled } from './fake-clock.ts';

/** The caller. */
export const me: Principal = aPrincipal();
export const CITY = {
  message: 'Which city?',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const;
export const PARIS = { id: 'in_1', action: 'accept', content: { city: 'Paris' } } as const;

/** A tool that waits for the response. */
export function holding(given: Partial<ServerTool> = {}): ServerTool {
  return aServerTool({
    name: 'ask',
    execute: async (_args, context) => ({ said: await context.requestInput(CITY) }),
    ...given,
  });
}

/** A tool that returns the request, and runs again with the response. */
export function returning(given: Partial<ServerTool> = {}): ServerTool & { runs: ToolContext[] } {
  const runs: ToolContext[] = [];
  const tool = aServerTool({
    name: 'ask',
    execute: (_args, context) => {
      runs.push(context);
      const { city } = context.inputs;
      return city === undefined
        ? new InputRequired({ city: CITY }, { step: 1 })
        : { said: city.content, carried: context.carried };
    },
    ...given,
  });
  return { ...tool, runs };
}

/** A call that has asked. */
export async function asked(
  tool: ServerTool,
  given: Omit<Parameters<typeof anEngine>[0], 'tools'> = {},
  request: Partial<Parameters<typeof aRequest>[0]> = {},
): Promise<EngineFixture & { call: Call }> {
  const fixture = await anEngine({ tools: [tool], ...given });
  const { id } = accepted(await fixture.engine.submit(aRequest({ toolName: 'ask', ...request }), me));
  await settled();
  const call = await fixture.engine.calls.find(me, id);
  if (call === undefined) throw new Error(`no such call: ${id}`);
  return { ...fixture, call };
}

export async function stateOf({ engine }: EngineFixture, { id }: Call): Promise<Call['state']> {
  await settled();
  const call = await engine.calls.find(me, id);
  if (call === undefined) throw new Error(`no such call: ${id}`);
  return call.state;
}
