import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { scenes, type Scene } from '../../../test/support/agent-scene.ts';
import type { AgentEventType, BoardOptions } from '../../index.ts';
import type { Script } from '../../testing/index.ts';

const { aScene } = scenes();

const TWO_QUESTIONS: Script = [
  { calls: [{ name: 'math.add', args: { a: 1, b: 2 } }] },
  { calls: [{ name: 'math.add', args: { a: 3, b: 4 } }] },
  'ok',
];

type Line = readonly [event: string, fields: Readonly<Record<string, unknown>> | undefined];

/** An agent whose calls all require approval, and the warnings that its board logs. */
async function asking(board: BoardOptions = {}): Promise<Scene & { readonly warnings: Line[] }> {
  const warnings: Line[] = [];
  const log = {
    info: () => {},
    warn: (...line: [string, Readonly<Record<string, unknown>>?]) => void warnings.push([line[0], line[1]]),
    error: () => {},
  };
  const scene = await aScene(TWO_QUESTIONS, { permission: { mode: 'ask' } }, { log, ...board });
  return { ...scene, warnings };
}

/** Allows every waiting call without listening to the agent. */
function allowAll({ agent, board }: Scene): void {
  const stop = board.host.engine.feed.listen(({ type, call }) => {
    if (type === 'permission_required' && call !== null)
      queueMicrotask(() => void board.decide(call.id, 'allow').catch(() => null));
  });
  onTestFinished(stop);
  expect(agent.state).toBe('idle');
}

describe('an agent that waits for a decision', () => {
  it('warns once, and names the event, if nothing listens for it', async () => {
    const scene = await asking();
    allowAll(scene);
    const { calls } = await scene.agent.send('1 + 2?');
    expect(calls.map(({ state }) => state)).toEqual(['COMPLETED', 'COMPLETED']);
    expect(scene.warnings).toEqual([
      [
        'agent.permission_unheard',
        {
          type: 'permission_required',
          agent_id: scene.agent.id,
          tool_call_id: calls[0]?.id,
          tool_name: 'math.add',
          message: expect.stringContaining("agent.on('permission_required'") as string,
        },
      ],
    ]);
  });

  it('warns the process if the board has no log', async () => {
    const emitWarning = vi.spyOn(process, 'emitWarning').mockReturnValue();
    onTestFinished(() => emitWarning.mockRestore());
    const scene = await aScene(TWO_QUESTIONS, { permission: { mode: 'ask' } });
    allowAll(scene);
    await scene.agent.send('1 + 2?');
    expect(emitWarning.mock.calls).toEqual([
      [
        expect.stringContaining("agent.on('permission_required'"),
        { type: 'PatchboardWarning', code: 'agent.permission_unheard' },
      ],
    ]);
  });

  it.each<[string, (scene: Scene) => void]>([
    ['a handler', ({ agent }) => void agent.on('permission_required', ({ respond }) => respond('allow'))],
    ['a subscription', ({ agent }) => void follow(agent.subscribe())],
    ['a subscription to control', ({ agent }) => void follow(agent.subscribe({ channels: ['control'] }))],
  ])('does not warn with %s', async (_what, listen) => {
    const scene = await asking();
    listen(scene);
    await scene.agent.send('1 + 2?');
    expect(scene.warnings).toEqual([]);
  });

  it('warns with a subscription to other channels, or one that has ended', async () => {
    const scene = await asking();
    allowAll(scene);
    follow(scene.agent.subscribe({ channels: ['progress'] })).catch(expect.unreachable);
    for await (const _event of scene.agent.subscribe({ signal: AbortSignal.abort() })) expect.unreachable();
    scene.agent.on('permission_required', () => {})();
    await scene.agent.send('1 + 2?');
    expect(scene.warnings).toHaveLength(1);
  });
});

async function follow(events: ReturnType<Scene['agent']['subscribe']>): Promise<void> {
  for await (const event of events) if (event.type === 'permission_required') await event.respond('allow');
}

describe('agent.on', () => {
  it.each([
    ['permision_required', 'did you mean permission_required?'],
    ['tool_start', 'did you mean tool:start?'],
    ['DONE', 'did you mean done?'],
    ['toString', 'known are tool:start, tool:end'],
    [undefined, 'it must be one of tool:start'],
  ])('refuses %j, and names the nearest', async (type, hint) => {
    const { agent } = await aScene([]);
    const wrong = type as AgentEventType;
    expect(() => agent.on(wrong, () => {})).toThrow(
      expect.objectContaining({
        name: 'AgentError',
        message: expect.stringContaining(hint) as string,
        failure: expect.objectContaining({ code: 'body_invalid' }) as unknown,
      }),
    );
  });

  it('throws for a handler that is not a function', async () => {
    const { agent } = await aScene([]);
    expect(() => agent.on('done', undefined as never)).toThrow('on: handler must be a function');
  });
});
