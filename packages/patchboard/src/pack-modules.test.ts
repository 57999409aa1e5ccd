import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from './settings/config-file.ts';
import { resolveSettings } from './settings/settings.ts';
import { loadPacks, type PackSurroundings } from './pack-modules.ts';
import { startPlatform } from './platform.ts';

const silent = { info: () => {}, warn: () => {}, error: () => {} };
const SURROUNDINGS: PackSurroundings = { dataFolder: '', log: silent, now: () => 0, onlySite: () => null };

/** A pack in one line, as somebody writes it who does not use our `tool()`. */
const aPack = (name: string, tool = `${name}.hello`): string =>
  `export const pack = { name: '${name}', tools: [{ name: '${tool}', description: '', input_schema: { type: 'object' },
    exec: (args, { tenant }) => ({ tenant }) }] };`;

describe('packs from modules', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchboard-packs-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  async function module(name: string, text: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  }

  async function serve(config: unknown): Promise<Awaited<ReturnType<typeof startPlatform>>> {
    const file = await module('config.json', JSON.stringify(config));
    const data = join(await mkdtemp(join(folder, 'data-')), 'data');
    return await startPlatform(resolveSettings({}, { port: '0', data, config: file }), silent);
  }

  async function problemOf(config: unknown): Promise<string> {
    try {
      await (await serve(config)).close();
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      return (error as ConfigError).message;
    }
    throw new Error('it started');
  }

  async function toolsOf(url: string, tenant: string): Promise<string[]> {
    const answer = await fetch(`${url}/v1/tools`, { headers: { 'x-tenant-id': tenant } });
    return ((await answer.json()) as { tools: { name: string }[] }).tools.map(({ name }) => name);
  }

  it('give their tools to the tenants that name them, and to those that name none', async () => {
    const packs = [await module('hello.mjs', aPack('hello'))];
    const tenants = { acme: { packs: ['hello'] }, other: { packs: ['essentials'] } };
    const platform = await serve({ packs, tenants });
    try {
      expect(await toolsOf(platform.url, 'acme')).toEqual(['hello.hello']);
      expect(await toolsOf(platform.url, 'other')).not.toContain('hello.hello');
      const usual = await toolsOf(platform.url, 'default');
      expect(usual).toEqual(expect.arrayContaining(['hello.hello', 'calculation.eval']));
      expect(usual).not.toContain('search_content');
      const answer = await fetch(`${platform.url}/v1/tools/hello.hello/invoke`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-tenant-id': 'acme', prefer: 'wait=10' },
        body: JSON.stringify({ run_id: 'run_a' }),
      });
      expect(await answer.json()).toMatchObject({ status: 'SUCCEEDED', result: { tenant: 'acme' } });
    } finally {
      await platform.close();
    }
  });

  it('may be made from what the server has, and are closed with it', async () => {
    const path = await module(
      'made.mjs',
      `export const pack = async ({ dataFolder }) => ({ name: dataFolder, tools: [], close: async () => { globalThis.closedPack = dataFolder; } });`,
    );
    const [pack] = await loadPacks([path], { ...SURROUNDINGS, dataFolder: 'somewhere' });
    expect(pack?.name).toBe('somewhere');
    await pack?.close?.();
    expect((globalThis as { closedPack?: string }).closedPack).toBe('somewhere');
  });

  it('end the start in one line when something is wrong with them', async () => {
    const good = await module('good.mjs', aPack('good'));
    const namesake = await module('namesake.mjs', aPack('good', 'other.tool'));
    const taker = await module('taker.mjs', aPack('taker', 'calculation.eval'));
    const empty = await module('empty.mjs', 'export const nothing = 1;');
    const broken = await module('broken.mjs', `throw new Error('not today')`);
    const toolless = await module('toolless.mjs', `export const pack = { name: 'x', tools: [{}] };`);
    expect(await problemOf({ packs: [join(folder, 'missing.mjs')] })).toMatch(
      /packs: .*missing.mjs cannot be loaded/,
    );
    expect(await problemOf({ packs: [broken] })).toMatch(/broken.mjs cannot be loaded: not today/);
    expect(await problemOf({ packs: [empty] })).toMatch(/empty.mjs exports no pack with a name and tools/);
    expect(await problemOf({ packs: [toolless] })).toMatch(/toolless.mjs has a tool that cannot be used/);
    expect(await problemOf({ packs: [good, namesake] })).toMatch(/two of the name good/);
    expect(await problemOf({ packs: [taker] })).toMatch(
      /pack taker: tool registered twice: calculation.eval/,
    );
    expect(await problemOf({ tenants: { acme: { packs: ['good'] } } })).toMatch(
      /tenants.acme.packs names good, but there are essentials, heritage/,
    );
    expect(await problemOf({ packs: [good], tools: { 'good.hallo': { timeout_ms: 5 } } })).toMatch(
      /tools.good.hallo: no pack has a tool of that name/,
    );
    expect(await problemOf({ tools: { create_draft_content: { cache_ttl_ms: 5 } } })).toMatch(
      /create_draft_content does not only read/,
    );
  });
});
