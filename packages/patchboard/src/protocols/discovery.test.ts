import { describe, expect, it } from 'vitest';
import { aBoard } from '../../test/support/a-board.ts';
import { createToolDiscoveryService, tool, ToolRegistry, type ToolModule } from '../index.ts';

const ON = { enabled: true, defaultToolEnabled: true };

function aModule(id: string, description: string): ToolModule {
  const run = (): string => 'done';
  return Object.assign(
    {
      id,
      getMetadata: () => [
        { name: 'run', description, agentCallable: true },
        { name: 'hidden', description: 'not for agents' },
      ],
    },
    { run, hidden: run },
  );
}

function aRegistry(): ToolRegistry {
  const registry = new ToolRegistry();
  registry.registerModule(aModule('weather', '查询天气 forecast'));
  registry.registerModule(aModule('files', 'list a folder'));
  registry.register(tool('plain', () => 1));
  return registry;
}

describe('discovery', () => {
  it('returns the methods that agents may call, or those that a filter selects', () => {
    const discovery = createToolDiscoveryService(aRegistry());
    const names = (found: ReturnType<typeof discovery.getDiscoveredMethods>): string[] =>
      found.map(({ toolId, methods }) => `${toolId}: ${methods.map(({ name }) => name).join(' ')}`);
    expect(names(discovery.getDiscoveredMethods())).toEqual(['weather: run', 'files: run', 'plain: plain']);
    expect(names(discovery.getDiscoveredMethods(({ name }) => name === 'hidden'))).toEqual([
      'weather: hidden',
      'files: hidden',
    ]);
  });

  it('writes a prompt of the enabled tools only', () => {
    const discovery = createToolDiscoveryService(aRegistry());
    const prompt = discovery.generatePrompt({ config: { ...ON, toolToggles: { files: false } } });
    expect(prompt).toContain('tool_name:「始」weather「末」\ncommand:「始」run「末」');
    expect(prompt).toContain('tool_name:「始」plain「末」');
    expect(prompt).not.toContain('files');
    expect(prompt).not.toContain('hidden');
    expect(discovery.generatePrompt({ config: { ...ON, enabled: false } })).toBe('');
    const json = discovery.generatePrompt({ config: { ...ON, protocol: 'anthropic' } });
    expect((JSON.parse(json) as { name: string }[]).map(({ name }) => name)).toEqual([
      'weather_run',
      'files_run',
      'plain',
    ]);
  });

  it('caches prompts until the registry changes or the cache is invalidated', () => {
    let asked = 0;
    const registry = aRegistry();
    const source = {
      get version() {
        return registry.version;
      },
      definitions: () => {
        asked += 1;
        return registry.definitions();
      },
    };
    const discovery = createToolDiscoveryService(source);
    const first = discovery.generatePrompt({ config: ON });
    expect(discovery.generatePrompt({ config: { defaultToolEnabled: true, enabled: true } })).toBe(first);
    expect(asked).toBe(1);
    discovery.generatePrompt({ config: ON, agentId: 'other' });
    discovery.generatePrompt({ config: { ...ON, timeout: 1 } });
    expect(asked).toBe(3);
    registry.register(tool('late', () => 1));
    expect(discovery.generatePrompt({ config: ON })).toContain('late');
    expect(asked).toBe(4);
    discovery.invalidateCache();
    discovery.generatePrompt({ config: ON });
    expect(asked).toBe(5);
  });

  it('writes the most relevant tools in full if the budget is too small for all, and names the rest', () => {
    const discovery = createToolDiscoveryService(aRegistry());
    const whole = discovery.generatePrompt({ config: ON });
    const budget = whole.length - 1;
    const short = discovery.generatePrompt({ config: ON, budget, relevantTo: '明天的天气怎么样' });
    expect(short.length).toBeLessThanOrEqual(budget);
    expect(short).toContain('tool_name:「始」weather「末」');
    expect(short).toMatch(/only the names are given here: .*plain/);
    const files = discovery.generatePrompt({
      config: ON,
      budget: 900,
      relevantTo: 'what is in that folder?',
    });
    expect(files).toContain('tool_name:「始」files「末」');
    expect(files).toContain('only the names are given here: weather_run, plain.');
    expect(discovery.generatePrompt({ config: ON, budget: 10 })).toContain('weather_run, files_run, plain');
  });

  describe.each(['openai', 'openai-responses', 'anthropic'] as const)('for %s', (protocol) => {
    const LONG = `reports.${'x'.repeat(80)}`;

    function offered(definitions: string): { name: string; parameters: Record<string, unknown> }[] {
      type Entry = { name: string; parameters?: object; input_schema?: object; function?: Entry };
      return (JSON.parse(definitions) as Entry[]).map((entry) => {
        const { name, parameters, input_schema: schema } = entry.function ?? entry;
        return { name, parameters: (parameters ?? schema) as Record<string, unknown> };
      });
    }

    it('gives every tool the wire name under which a board made from the registry knows it', async () => {
      const registry = new ToolRegistry();
      registry.register(tool('a__b', () => 'the other'));
      registry.register(tool('a.b', (args) => ({ 'a.b': args })));
      registry.register(tool(LONG, () => 'long'));
      registry.registerModule(aModule('site.weather', 'forecast'));
      const board = await aBoard({ tools: registry });
      const known = board.tools().map(({ name, wireName }) => [name, wireName] as const);
      const wireNames = new Map(known);
      const discovery = createToolDiscoveryService(registry);
      const config = { ...ON, protocol };
      const names = offered(discovery.generatePrompt({ config })).map(({ name }) => name);
      expect(names.toSorted()).toEqual([...wireNames.values()].toSorted());
      for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      // A wire name does not depend on which of the others are offered beside it.
      const alone = offered(
        discovery.generatePrompt({ config: { ...config, toolToggles: { a__b: false } } }),
      );
      expect(alone.map(({ name }) => name)).toContain(wireNames.get('a.b'));
    });

    it('gives definitions of other sources unique names that the vendor accepts', () => {
      const method = (name: string) => ({ name, agentCallable: true, registeredName: name });
      const definitions = ['a.b', 'a__b', LONG].map((name) => ({
        toolId: name,
        toolName: name,
        methods: [method(name)],
      }));
      const discovery = createToolDiscoveryService({ version: 1, definitions: () => definitions });
      const names = offered(discovery.generatePrompt({ config: { ...ON, protocol } })).map(
        ({ name }) => name,
      );
      expect(new Set(names).size).toBe(3);
      expect(names).toContain('a__b');
      for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    });

    it('offers a tool without a schema as one that accepts any arguments', () => {
      const registry = new ToolRegistry();
      registry.register(tool('notes.add', ({ text }: { text: string }) => text));
      const prompt = createToolDiscoveryService(registry).generatePrompt({ config: { ...ON, protocol } });
      const [{ parameters } = { parameters: {} }] = offered(prompt);
      expect(parameters).toMatchObject({ type: 'object' });
      expect(parameters).not.toHaveProperty('additionalProperties', false);
      expect(prompt).not.toContain('"strict":true');
    });
  });
});
