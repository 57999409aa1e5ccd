import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LONG, Workplace } from '../cli/cli-process.ts';
import { startPostgres, type PostgresService } from '../services/postgres.ts';
import { queryOnce } from '../services/with-client.ts';
import { aFixedPort } from '../support/a-fixed-port.ts';
import type { Running } from '../support/run-command.ts';
import { waitFor } from '../support/wait-for.ts';

const TOKEN = 'operator-token-0123456789-0123456789';
const SERVE = ['serve', '--port', '0'];
let folder: string;
let service: PostgresService;
let place: Workplace;
/** A server whose database does not exist. It takes its time, so it runs beside the other tests. */
let unreachable: Running;

beforeAll(async () => {
  place = await Workplace.create();
  place.environment['PATCHBOARD_OPERATOR_TOKEN'] = TOKEN;
  place.environment['DATABASE_URL'] = `postgres://me:planted@127.0.0.1:${await aFixedPort()}/none`;
  unreachable = place.start([...SERVE, '--data', join(place.folder, 'other')]);
  folder = mkdtempSync(join(tmpdir(), 'patchboard-hba-'));
  chmodSync(folder, 0o755);
  const rules = join(folder, 'pg_hba.conf');
  // The role `locked` must send its password.
  writeFileSync(rules, 'host all locked all scram-sha-256\nhost all all all trust\nlocal all all trust\n');
  chmodSync(rules, 0o644);
  service = await startPostgres({ version: 15, settings: { hba_file: rules } });
  place.environment['DATABASE_URL'] = service.url;
}, LONG);
afterAll(async () => {
  await service.close();
  await place.remove();
  rmSync(folder, { recursive: true, force: true });
});

async function statusOf(url: string): Promise<string> {
  const response = await fetch(url);
  const { code, detail } = (await response.json()) as { code?: string; detail?: string };
  return [response.status, code, detail].filter((part) => part !== undefined).join(' ');
}

describe('a server on PostgreSQL', { timeout: LONG }, () => {
  it('is refused with a wrong password, which no line shows', async () => {
    await queryOnce(service.url, `create role locked login password 'right'`);
    const url = service.urlFor('locked:planted-secret', 'postgres');
    const { code, out, error } = await place.run(SERVE, { DATABASE_URL: url });
    expect(error).toMatch(
      /^patchboard: [^\n]*password authentication failed for user "locked"[^\n]*; check the role and the password in the URL[^\n]*\n$/,
    );
    expect(error).not.toContain('planted');
    expect([code, out]).toEqual([2, '']);
  });

  it('is alive but not ready while the database is away, and ready again after it', async () => {
    const server = place.start(SERVE);
    const said = await server.says(/ready at \S+.*\n/);
    const url = /ready at (\S+)/.exec(said)?.[1] ?? '';
    expect(await statusOf(`${url}/readyz`)).toBe('200');
    await service.stop('immediate');
    await waitFor(async () => expect(await statusOf(`${url}/readyz`)).toMatch(/^503 storage_unavailable /));
    expect(await statusOf(`${url}/healthz`)).toBe('200');
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ run_id: 'r1', args: { expression: '1' } });
    const refused = await fetch(`${url}/v1/tools/calculation.eval/invoke`, { method: 'POST', headers, body });
    expect([refused.status, await refused.json()]).toEqual([
      503,
      expect.objectContaining({ code: 'storage_unavailable', retryable: true }),
    ]);
    await service.start();
    await waitFor(async () => expect(await statusOf(`${url}/readyz`)).toBe('200'));
    const prefer = { ...headers, prefer: 'wait=10' };
    const done = await fetch(`${url}/v1/tools/calculation.eval/invoke`, {
      method: 'POST',
      headers: prefer,
      body,
    });
    expect(await done.json()).toMatchObject({ status: 'SUCCEEDED' });
    expect((await server.stop()).code).toBe(0);
  });

  it('is refused after some seconds if the database cannot be reached', async () => {
    const { code, out, error } = await unreachable.finished;
    expect(error).toMatch(/^patchboard: postgres:\/\/me@127[^\n]*ECONNREFUSED[^\n]*\n$/);
    expect([code, out]).toEqual([2, '']);
  });
});
