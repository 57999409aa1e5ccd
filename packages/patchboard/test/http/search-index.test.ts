import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { aDataFolder, aPlatform } from '../guard/support/a-platform.ts';
import { aServerTool } from '../support/an-engine.ts';
import { waitFor } from '../support/wait-for.ts';

it('serves everything but searches while the search index cannot be used, and searches once it can', async () => {
  const folder = aDataFolder();
  const index = join(folder.path, 'patchboard-search.db');
  mkdirSync(index, { recursive: true, mode: 0o700 });
  const server = await aPlatform({ folder, tools: [aServerTool({ name: 'toy.echo' })] });
  const get = (path: string): ReturnType<typeof server.asOperator> => server.asOperator('GET', path);
  const body = { run_id: 'run_1', args: {} };
  const headers = { prefer: 'wait=10' };
  const call = await server.ask({ method: 'POST', path: '/v1/tools/toy.echo/invoke', headers, body });
  expect([call.status, call.json]).toEqual([200, expect.objectContaining({ state: 'COMPLETED' })]);

  for (const path of ['/v1/tool_calls?query=tool:toy.*', '/v1/call_metrics', '/v1/runs?outcome=failed']) {
    const { status, json } = await get(path);
    expect([path, status, json]).toEqual([
      path,
      503,
      expect.objectContaining({
        code: 'storage_unavailable',
        detail: expect.stringMatching(
          /^the search index patchboard-search\.db cannot be used \(EISDIR: [\w ]+\).*move it away.*made anew/,
        ),
        reasons: [expect.objectContaining({ code: 'search_index_unusable' })],
      }),
    ]);
  }
  // The log of the operator has the whole path.
  await waitFor(() => expect(server.log()).toContain(`the search index ${index} cannot be used`));
  expect((await get('/v1/tool_calls?limit=5')).json).toMatchObject({ tool_calls: [{ run_id: 'run_1' }] });
  expect((await get('/v1/tool_calls?run_id=run_1')).json).toMatchObject({ tool_calls: [{}] });
  const { json: runs } = await get('/v1/runs');
  expect(runs).toMatchObject({ runs: [{ run_id: 'run_1' }], complete: false });
  expect(JSON.stringify(runs)).not.toContain('outcome');
  expect((await get('/v1/runs/run_1')).json).toMatchObject({ run_id: 'run_1', tool_calls: [{}] });
  expect((await get('/readyz')).status).toBe(200);

  rmSync(index, { recursive: true });
  await waitFor(async () =>
    expect((await get('/v1/runs?outcome=completed')).json).toMatchObject({ runs: [{ run_id: 'run_1' }] }),
  );
  await server.close();
  folder.remove();
});
