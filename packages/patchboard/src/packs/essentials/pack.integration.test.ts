import { existsSync } from 'node:fs';

import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Pack, ServerTool } from '../../core/tools/server-tool.ts';
import { aContext } from './__fixtures__/context.ts';
import { aFolder } from './database/__fixtures__/tool.ts';
import { essentialsPack } from './pack.ts';
import type { EssentialsOptions } from './pack.ts';
import { ESSENTIAL_TOOLS } from './tool-names.ts';
import { startOpenMeteo } from './weather/__fixtures__/open-meteo-server.ts';
import type { OpenMeteoStub } from './weather/__fixtures__/open-meteo-server.ts';

const folder = aFolder();
const sampleFile = folder.file('sample.db');
let service: OpenMeteoStub;
let pack: Pack;

beforeAll(async () => {
  service = await startOpenMeteo();
  pack = aPack();
});
afterAll(async () => {
  await pack.close?.();
  await service.close();
  folder.remove();
});

describe('the essentials pack', () => {
  it('has tools for weather, SQL and arithmetic with their documented limits', () => {
    expect(pack.tools.map((tool) => [tool.name, tool.timeoutMs])).toEqual([
      ['weather.query', 5000],
      ['database.query', 10_000],
      ['calculation.eval', 3000],
    ]);
    expect(pack.tools.map((tool) => tool.name)).toEqual(ESSENTIAL_TOOLS);
  });

  it('opens nothing before it is used', () => {
    expect(existsSync(sampleFile)).toBe(false);
  });

  it.each([
    ['weather.query', { query: 'weather in Beijing' }],
    ['database.query', { sql: 'select name from products where price_cents < ?', params: [2000] }],
    ['database.query', { sql: 'select name from products where price_cents < :max', params: { max: 2000 } }],
    ['calculation.eval', { expression: '(3+4)*6' }],
  ])('has schemas that match arguments and result of %s', async (name, args) => {
    const tool = toolNamed(pack, name);
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
    expect(ajv.validate(tool.inputSchema, args)).toBe(true);
    expect(ajv.validate(tool.inputSchema, { ...args, more: 1 })).toBe(false);
    expect(ajv.validate(tool.inputSchema, {})).toBe(false);
    const result = await tool.execute(args, aContext());
    expect(ajv.validate(tool.outputSchema ?? false, result), JSON.stringify(ajv.errors)).toBe(true);
  });

  it('requires approval for any database but the sample', async () => {
    const requiresApproval = (target: string | null): boolean | undefined =>
      toolNamed(aPack({ target }), 'database.query').annotations.requires_approval;
    expect(requiresApproval(null)).toBeUndefined();
    expect(requiresApproval(folder.file('own.db'))).toBe(true);
    expect(requiresApproval('postgres://reader@db.example/shop')).toBe(true);
  });

  it('does not start on a forbidden database', () => {
    const target = folder.file('patchboard.db');
    expect(() => aPack({ target, forbiddenFiles: [target] })).toThrow("the platform's own store");
    expect(() => aPack({ target: `file://${target}`, forbiddenFiles: [target] })).toThrow(
      "the platform's own store",
    );
    expect(() => aPack({ forbiddenFiles: [sampleFile] })).toThrow("the platform's own store");
  });
});

function aPack(database: Partial<EssentialsOptions['database']> = {}): Pack {
  return essentialsPack({
    weather: { forecastUrl: service.url, geocodingUrl: service.url },
    database: { target: null, sampleFile, forbiddenFiles: [], ...database },
    now: () => Date.now(),
  });
}

function toolNamed(from: Pack, name: string): ServerTool {
  return from.tools.find((tool) => tool.name === name)!;
}
