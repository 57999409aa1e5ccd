import { describe, expect, it } from 'vitest';
import {
  anEngine,
  aPrincipal,
  aRequest,
  aServerTool,
  manualTool,
  submitted,
} from '../../../test/support/an-engine.ts';
import { settled } from '../../../test/support/fake-clock.ts';

const me = aPrincipal();

describe('a tool of this process', () => {
  it('shares a slot with other tools that name the same slot', async () => {
    const slot = { name: 'upstream:github', limit: 1 };
    const first = manualTool('github.a', { slot });
    const second = manualTool('github.b', { slot });
    const free = manualTool('own');
    const fixture = await anEngine({ tools: [first.tool, second.tool, free.tool] });
    const ahead = await submitted(fixture, 'github.a');
    const behind = await submitted(fixture, 'github.b');
    const beside = await submitted(fixture, 'own');
    await settled();
    expect([second.running.has(behind.id), free.running.has(beside.id)]).toEqual([false, true]);
    first.running.get(ahead.id)!.resolve(1);
    await settled();
    expect(second.running.has(behind.id)).toBe(true);
  });

  it('needs a slot with a limit of at least 1', async () => {
    const { engine } = await anEngine({});
    const tool = aServerTool({ name: 'a', slot: { name: 's', limit: 0 } });
    expect(engine.serverTools.add(tool)).toMatchObject({ ok: false, code: 'schema_invalid' });
  });

  it('is online while isOnline returns true', async () => {
    let isUp = false;
    const tools = [aServerTool({ name: 'up', isOnline: () => isUp }), aServerTool({ name: 'plain' })];
    const { engine } = await anEngine({ tools });
    const online = async (toolName: string) => {
      const preview = await engine.previews.of(aRequest({ toolName }), me);
      return preview.ok && preview.value.route.online;
    };
    expect([await online('up'), await online('plain')]).toEqual([false, true]);
    isUp = true;
    expect(await online('up')).toBe(true);
  });

  it('exposes whether its calls are tasks', async () => {
    const tools = [aServerTool({ name: 'long', task: 'always' }), aServerTool({ name: 'short' })];
    const { engine } = await anEngine({ tools });
    expect(tools.map(({ name }) => engine.toolIndex.find('default', name)?.task)).toEqual(['always', null]);
  });
});
