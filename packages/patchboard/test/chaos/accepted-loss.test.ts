import { readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { LedgerRowView } from '@patchboard/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { get, post } from '../../../../scripts/chaos/http.ts';
import { ServerProcess } from '../../../../scripts/chaos/server-process.ts';
import { LONG, Workplace } from '../cli/cli-process.ts';

let place: Workplace;
let server: ServerProcess | null;

beforeEach(async () => {
  place = await Workplace.create();
  server = null;
});
afterEach(async () => {
  await server?.destroy();
  await place.remove();
});

const file = (name: string): string => join(place.data, name);

async function serve(): Promise<string> {
  server = ServerProcess.shipped({ dataFolder: place.data });
  return await server.mustBeReady();
}

async function stop(): Promise<void> {
  server?.terminate();
  await server?.ended;
}

const statusOf = async (url: string, headers: Record<string, string> = {}): Promise<number> =>
  (await get(`${url}/v1/tools`, { headers })).status;

const asOperator = (): Record<string, string> => ({
  authorization: `Bearer ${readFileSync(file('operator.token'), 'utf8').trim()}`,
});

describe('a server that was killed and whose database was then cut to 0 bytes', { timeout: LONG }, () => {
  it('does not start empty and open: an operator accepts the loss, and allows local mode, if at all', async () => {
    const killed = await serve();
    const key = { kind: 'agent', name: 'ada' };
    expect((await post(`${killed}/v1/keys`, key, { headers: asOperator() })).status).toBe(201);
    server?.kill();
    await server?.ended;
    // Written with the first key, at once: the response with the key came after it.
    expect(readFileSync(file('patchboard.db-head'), 'utf8')).toContain('"keys_existed":true');
    truncateSync(file('patchboard.db'), 0);

    const command = `patchboard data accept-loss --data ${place.data}`;
    for (const args of [
      ['serve', '--port', '0'],
      ['keys', 'create', '--kind', 'agent', '--name', 'eve'],
      ['ledger', 'verify', '--data', place.data],
    ]) {
      const refused = await place.run(args);
      expect([refused.code, refused.out]).toEqual([2, '']);
      expect(refused.error).toContain('patchboard.db is empty, and its head file names ledger row 1');
      expect(refused.error).toContain(command);
    }
    const { findings } = await doctor();
    expect(findings).toContainEqual({
      check: 'store',
      ok: false,
      detail: expect.stringContaining(command) as string,
    });

    const accepted = await place.run(['data', 'accept-loss']);
    expect(accepted).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^accepted, in ledger row 1: /) as string,
    });
    expect(accepted.error).toContain('Keys existed before, so requests need a credential.');
    const closed = await serve();
    expect([await statusOf(closed), await statusOf(closed, asOperator())]).toEqual([401, 200]);
    const { body } = await get(`${closed}/v1/ledger`, { headers: asOperator() });
    expect((body['rows'] as LedgerRowView[]).map(({ kind }) => kind)).toEqual(['store.loss_accepted']);
    expect((await place.run(['data', 'allow-local-mode'])).code).toBe(6);
    await stop();

    expect((await doctor()).text).toContain(
      'is not in local mode: keys existed before (patchboard data allow-local-mode)',
    );
    expect((await place.run(['data', 'allow-local-mode'])).code).toBe(0);
    expect(await place.json(['ledger', 'verify', '--data', place.data])).toMatchObject({ ok: true, rows: 2 });
    expect(await statusOf(await serve())).toBe(200);
    await stop();
    expect((await place.run(['data', 'accept-loss'])).error).toContain('nothing is lost');
  });
});

async function doctor(): Promise<{ findings: unknown[]; text: string }> {
  const { out } = await place.run(['doctor', '--json']);
  return { text: out, findings: (JSON.parse(out) as { findings: unknown[] }).findings };
}
