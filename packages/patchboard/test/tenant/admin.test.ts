import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { MintedKeyView, TenantView, TraceLedgerView } from '@patchboard/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LONG, Workplace } from '../cli/cli-process.ts';

let place: Workplace;
beforeEach(async () => {
  place = await Workplace.create();
});
afterEach(() => place.remove());

const VILLAGE = `
site_name: 木原村
contents:
  - { id: bridge, content_type: knowledge, title: 廊桥, body: 桥上有屋，可避风雨。 }
npcs:
  - { npc_id: carpenter, name: 老木匠 }
prompts:
  - { npc_id: carpenter, prompt_type: system, prompt_text: 你是老木匠。 }
pois:
  - { id: poi_bridge, name: 廊桥, type: heritage }
routes:
  - { id: walk, name: 过桥, poi_ids: [poi_bridge] }
`;

/** One call on the tenant API of the server that runs. */
async function call(
  tool: string,
  input: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<unknown> {
  const response = await fetch(`${place.environment['PATCHBOARD_URL']}/api/tools/call`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-trace-id': 'trace-cli', ...headers },
    body: JSON.stringify({ tool_name: tool, input }),
  });
  return { status: response.status, ...((await response.json()) as object) };
}

describe('a tenant created by the command line', { timeout: LONG }, () => {
  it('gets its site, pack, limits, data and key while the server runs, and keeps them', async () => {
    const file = await place.write('village.yaml', VILLAGE);
    let stop = await place.serve();
    const muyuan = { 'x-tenant-id': 'muyuan', 'x-site-id': 'main' };
    expect(await call('get_site_map', {}, muyuan)).toMatchObject({ error_type: 'ToolNotFoundError' });

    const set = 'tenants set muyuan --site main --pack heritage --calls 100/50 --tool search_content=20/0.5';
    const { tenants } = await place.json<{ tenants: TenantView[] }>(set.split(' '));
    expect(tenants).toEqual([
      {
        tenant_id: 'muyuan',
        sites: ['main'],
        packs: ['heritage'],
        limits: {
          calls: { burst: 100, per_second: 50 },
          tools: { search_content: { burst: 20, per_second: 0.5 } },
        },
        source: 'operator',
      },
    ]);
    const imported = await place.run(['data', 'import', file, '--tenant', 'muyuan', '--site', 'main']);
    expect(imported).toMatchObject({ code: 0 });
    expect(imported.error).toContain('1 contents, 1 npcs, 1 prompts, 1 pois, 1 routes');
    expect(await call('get_site_map', {}, muyuan)).toMatchObject({
      success: true,
      output: { site_name: '木原村', pois: [{ name: '廊桥' }] },
    });
    expect(await call('search_content', { query: '桥' }, muyuan)).toMatchObject({ output: { total: 1 } });
    expect(await call('get_site_map', {}, { ...muyuan, 'x-site-id': 'other' })).toMatchObject({
      status: 403,
    });

    const { trace_ledger: entries } = await place.json<{ trace_ledger: TraceLedgerView[] }>(
      'ledger trace trace-cli --tenant muyuan'.split(' '),
    );
    expect(entries.map(({ status, tool_calls: [made] }) => [made?.tool_name, status])).toEqual([
      ['get_site_map', 'error'],
      ['get_site_map', 'success'],
      ['search_content', 'success'],
    ]);

    const key = await place.json<MintedKeyView>(
      'keys create --tenant muyuan --kind service --name ai-orchestrator'.split(' '),
    );
    expect(await call('get_site_map', {}, muyuan)).toMatchObject({ status: 401 });
    await stop();
    stop = await place.serve();
    const withKey = { ...muyuan, 'x-internal-api-key': key.key };
    expect(await call('get_site_map', {}, withKey)).toMatchObject({ success: true });

    const { tenants: known } = await place.json<{ tenants: TenantView[] }>(['tenants', 'ls']);
    expect(known.map(({ tenant_id: id, source }) => [id, source])).toEqual([
      ['muyuan', 'operator'],
      ['yantian', 'config'],
    ]);
    expect(await place.run(['tenants', 'rm', 'muyuan'])).toMatchObject({
      code: 0,
      out: 'muyuan removed\n',
    });
    expect(await call('get_site_map', {}, withKey)).toMatchObject({ error_type: 'ToolNotFoundError' });
    expect(await place.run(['tenants', 'rm', 'muyuan'])).toMatchObject({ code: 5 });
    await stop();
  });

  it('gets an error that says what is wrong', async () => {
    const stop = await place.serve();
    const unknownPack = await place.run(['tenants', 'set', 'acme', '--pack', 'heritge']);
    expect(unknownPack.error).toContain('packs names heritge, but there are essentials, heritage');
    expect((await place.run(['tenants', 'set', 'acme', '--calls', '5'])).error).toContain('such as 100/50');
    expect((await place.run(['tenants', 'set', 'acme', '--tool', '5/1'])).error).toContain(
      'search_content=20/5',
    );
    expect((await place.run(['tenants', 'set', 'ac me'])).code).toBe(2);
    await stop();
  });
});

describe('data of a site', { timeout: LONG }, () => {
  const scope = ['--tenant', 'muyuan', '--site', 'main'];

  it('exports what was imported, and imports it again', async () => {
    const file = await place.write('village.yaml', VILLAGE);
    expect(await place.json(['data', 'import', file, ...scope])).toMatchObject({
      tenant: 'muyuan',
      contents: 1,
    });
    const exported = await place.run(['data', 'export', ...scope]);
    const data = JSON.parse(exported.out) as { contents: object[]; npcs: object[] };
    expect(data).toMatchObject({
      site_name: '木原村',
      contents: [{ id: 'bridge', status: 'published', verified: false, tags: [] }],
      npcs: [{ npc_id: 'carpenter', version: 1, active: true, max_response_length: 500 }],
    });
    const selected = await place.run(['data', 'export', ...scope, '--select', '.contents[].id']);
    expect(selected).toMatchObject({ code: 0, out: 'bridge\n' });
    const written = await place.json(['data', 'export', ...scope, '--out', join(place.folder, 'out.json')]);
    expect(written).toEqual({
      tenant: 'muyuan',
      site: 'main',
      file: join(place.folder, 'out.json'),
      contents: 1,
    });
    const again = await place.write('again.json', exported.out);
    await place.json(['data', 'import', again, ...scope]);
    expect((await place.run(['data', 'export', ...scope])).out).toBe(exported.out);
    const missing = await place.run(['data', 'export', '--tenant', 'muyuan', '--site', 'other']);
    expect(missing).toMatchObject({ code: 5, out: '' });
    expect(missing.error).toContain('there is no data of tenant muyuan, site other');
  });

  it('is looked for where there is no data folder, and none is made', async () => {
    const { code, out, error } = await place.run(['data', 'export', ...scope]);
    expect({ code, out }).toEqual({ code: 5, out: '' });
    expect(error).toContain(`there is no data of tenant muyuan, site main in ${place.data}`);
    expect(existsSync(place.data)).toBe(false);
  });

  it('is refused as a whole, with the line of what is wrong', async () => {
    const file = await place.write('bad.yaml', 'site_name: x\ncontents:\n  - { id: a, kind: b }\n');
    const { code, error } = await place.run(['data', 'import', file, ...scope]);
    expect(code).toBe(2);
    expect(error).toMatch(/nothing was imported:\n[\s\S]*bad.yaml:3: contents.0.kind is not known here/);
    expect((await place.run(['data', 'export', ...scope])).error).toContain('there is no data');
  });
});
