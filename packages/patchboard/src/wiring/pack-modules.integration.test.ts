import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from '../../test/support/a-folder.ts';
import { aModule, serveWith } from '../../test/support/modules.ts';
import { ConfigError } from '../settings/config-file.ts';
import { loadPacks, type PackSurroundings } from './pack-modules.ts';
import { SILENT_LOG } from '../runtime/silent-log.ts';

const SURROUNDINGS: PackSurroundings = {
  dataFolder: '',
  log: SILENT_LOG,
  now: () => 0,
  onlySite: () => null,
};

/** A one-line pack that does not use `tool()`. */
const aPack = (name: string, tool = `${name}.hello`): string =>
  `export const pack = { name: '${name}', tools: [{ name: '${tool}', description: '', input_schema: { type: 'object' },
    exec: (args, { tenant }) => ({ tenant }) }] };`;

describe('packs from modules', () => {
  async function problemOf(config: unknown): Promise<string> {
    try {
      await serveWith(config);
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      return (error as ConfigError).message;
    }
    throw new Error('it started');
  }

  async function toolsOf(url: string, tenant: string): Promise<string[]> {
    const response = await fetch(`${url}/v1/tools`, { headers: { 'x-tenant-id': tenant } });
    return ((await response.json()) as { tools: { name: string }[] }).tools.map(({ name }) => name);
  }

  it('are available to tenants that name them, and to tenants that name no packs', async () => {
    const packs = [await aModule('hello.mjs', aPack('hello'))];
    const tenants = { acme: { packs: ['hello'] }, other: { packs: ['essentials'] } };
    const { url } = await serveWith({ packs, tenants });
    expect(await toolsOf(url, 'acme')).toEqual(['hello.hello']);
    expect(await toolsOf(url, 'other')).not.toContain('hello.hello');
    const usual = await toolsOf(url, 'default');
    expect(usual).toEqual(expect.arrayContaining(['hello.hello', 'calculation.eval']));
    expect(usual).not.toContain('search_content');
    const response = await fetch(`${url}/v1/tools/hello.hello/invoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tenant-id': 'acme', prefer: 'wait=10' },
      body: JSON.stringify({ run_id: 'run_a' }),
    });
    expect(await response.json()).toMatchObject({ status: 'SUCCEEDED', result: { tenant: 'acme' } });
  });

  it('may have tools that come and go, for the tenants that have the pack', async () => {
    // The first tool adds the second, and removes it when it is called again.
    const path = await aModule(
      'switch.mjs',
      `import { tool, ToolRegistry } from ${JSON.stringify(new URL('../index.ts', import.meta.url).href)};
      const registry = new ToolRegistry();
      registry.register(tool('lamp.switch', () => {
        if (registry.unregister('lamp.on')) return 'off';
        registry.register(tool('lamp.on', () => 'shines'));
        return 'on';
      }));
      export const pack = { name: 'lamp', tools: [], toolSource: registry };`,
    );
    const tenants = { acme: { packs: ['lamp'] }, other: { packs: ['essentials'] } };
    const tools = { 'lamp.on': { timeout_ms: 4321 } };
    const { url } = await serveWith({ packs: [path], tenants, tools });
    const call = async (name: string): Promise<unknown> => {
      const response = await fetch(`${url}/v1/tools/${name}/invoke`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-tenant-id': 'acme', prefer: 'wait=10' },
        body: JSON.stringify({ run_id: 'run_a' }),
      });
      return ((await response.json()) as { result?: unknown }).result;
    };
    expect(await toolsOf(url, 'acme')).toEqual(['lamp.switch']);
    expect(await call('lamp.switch')).toBe('on');
    expect(await toolsOf(url, 'acme')).toEqual(['lamp.on', 'lamp.switch']);
    expect(await toolsOf(url, 'other')).not.toContain('lamp.on');
    expect(await call('lamp.on')).toBe('shines');
    const listed = await fetch(`${url}/v1/tools/lamp.on`, { headers: { 'x-tenant-id': 'acme' } });
    expect(await listed.json()).toMatchObject({ timeout_ms: 4321 });
    expect(await call('lamp.switch')).toBe('off');
    expect(await toolsOf(url, 'acme')).toEqual(['lamp.switch']);
  });

  it('may be factories that receive services of the server, and are closed with it', async () => {
    const path = await aModule(
      'made.mjs',
      `export const pack = async ({ dataFolder }) => ({ name: dataFolder, tools: [], close: async () => { globalThis.closedPack = dataFolder; } });`,
    );
    const [pack] = await loadPacks([path], { ...SURROUNDINGS, dataFolder: 'somewhere' });
    expect(pack?.name).toBe('somewhere');
    await pack?.close?.();
    expect((globalThis as { closedPack?: string }).closedPack).toBe('somewhere');
  });

  it('make the start fail with a one-line error if they are invalid', async () => {
    const good = await aModule('good.mjs', aPack('good'));
    const namesake = await aModule('namesake.mjs', aPack('good', 'other.tool'));
    const taker = await aModule('taker.mjs', aPack('taker', 'calculation.eval'));
    const empty = await aModule('empty.mjs', 'export const nothing = 1;');
    const broken = await aModule('broken.mjs', `throw new Error('not today')`);
    const toolless = await aModule('toolless.mjs', `export const pack = { name: 'x', tools: [{}] };`);
    expect(await problemOf({ packs: [join(await aFolder(), 'missing.mjs')] })).toMatch(
      /packs: .*missing.mjs cannot be loaded/,
    );
    expect(await problemOf({ packs: [broken] })).toMatch(/broken.mjs cannot be loaded: not today/);
    expect(await problemOf({ packs: [empty] })).toMatch(/empty.mjs exports no pack with a name and tools/);
    expect(await problemOf({ packs: [toolless] })).toMatch(/toolless.mjs has a tool that cannot be used/);
    expect(await problemOf({ packs: [good, namesake] })).toMatch(/two packs have the name good/);
    expect(await problemOf({ packs: [taker] })).toMatch(
      /pack taker: tool registered twice: calculation.eval/,
    );
    expect(await problemOf({ tenants: { acme: { packs: ['good'] } } })).toMatch(
      /tenants.acme.packs names good, but there are essentials, heritage/,
    );
    expect(await problemOf({ packs: [good], tools: { 'good.hallo': { timeout_ms: 5 } } })).toMatch(
      /tools.good.hallo: no pack or upstream has a tool of that name/,
    );
    expect(await problemOf({ tools: { create_draft_content: { cache_ttl_ms: 5 } } })).toMatch(
      /create_draft_content is not readonly, so its results cannot be cached/,
    );
  });
});
