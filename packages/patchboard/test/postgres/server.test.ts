import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LONG, Workplace } from '../cli/cli-process.ts';
import { aSchema, sharedPostgres, type SharedPostgres } from '../services/shared-postgres.ts';
import { queryOnce } from '../services/with-client.ts';
import { expectRefusal } from '../support/expect-refusal.ts';
import type { Finished, Running } from '../support/run-command.ts';

const TOKEN = 'planted-operator-token-0123456789';
const PASSWORD = 'planted-p%40ssword';
const SERVE = ['serve', '--port', '0'];

let service: SharedPostgres;
let place: Workplace;
let schema: string;

beforeAll(async () => {
  service = await sharedPostgres(18);
}, LONG);

beforeEach(async () => {
  place = await Workplace.create();
  schema = aSchema(service);
  const config = await place.write('config.yaml', `store: { schema: ${schema} }\n`);
  Object.assign(place.environment, {
    // The server needs no password; one must appear nowhere all the same.
    DATABASE_URL: withPassword(service.url),
    PATCHBOARD_CONFIG: config,
    PATCHBOARD_OPERATOR_TOKEN: TOKEN,
  });
});
afterEach(() => place.remove());

function withPassword(url: string): string {
  return url.replace('@', `:${PASSWORD}@`);
}

async function ready(server: Running): Promise<{ url: string; line: string }> {
  const [line = '', url = ''] = /ready at (\S+).*/.exec(await server.says(/ready at \S+.*\n/)) ?? [];
  return { url, line };
}

async function sql(text: string): Promise<readonly unknown[]> {
  return await queryOnce(service.url, text);
}

/** A refusal that names neither password nor token. */
function expectSilentRefusal(finished: Finished, message: RegExp | string): void {
  expectRefusal(finished, message);
  expect(finished.error).not.toMatch(/planted|ssword/);
}

const OPERATOR = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

async function invoke(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/tools/calculation.eval/invoke`, {
    method: 'POST',
    headers: { ...OPERATOR, prefer: 'wait=10' },
    body: JSON.stringify({ run_id: 'r1', args: { expression: '6*7' } }),
  });
  const call = (await response.json()) as { tool_call_id: string; status: string; result: unknown };
  expect(call).toMatchObject({ status: 'SUCCEEDED', result: { value: 42 } });
  return call.tool_call_id;
}

describe('a server on PostgreSQL', { timeout: LONG }, () => {
  it('keeps its calls over a restart, and nothing of them in the data folder', async () => {
    const first = place.start(SERVE);
    const { url, line } = await ready(first);
    expect(line).toContain(`store: ${service.url}; no local mode, every request needs a credential; `);
    const id = await invoke(url);
    const ended = await first.stop();
    expect(ended.code).toBe(0);
    expect(`${ended.out}${ended.error}`).not.toMatch(/planted|ssword/);

    const second = place.start(SERVE);
    const again = await ready(second);
    const found = await fetch(`${again.url}/v1/tool_calls/${id}`, { headers: OPERATOR });
    expect(await found.json()).toMatchObject({
      tool_call_id: id,
      status: 'SUCCEEDED',
      result: { value: 42 },
    });
    const keys = await place.run(['keys', 'ls'], { PATCHBOARD_URL: again.url });
    expect([keys.code, keys.error]).toEqual([0, 'no keys\n']);
    expect((await second.stop()).code).toBe(0);
    for (const file of ['patchboard.db', 'heritage.db', 'operator.token'])
      expect(existsSync(join(place.data, file)), file).toBe(false);
  });

  it('has no local mode, and shows on a terminal how to use the operator token', async () => {
    const server = place.start(SERVE);
    const { url } = await ready(server);
    const response = await fetch(`${url}/v1/tools`);
    expect([response.status, await response.json()]).toEqual([
      401,
      expect.objectContaining({
        code: 'auth_required',
        detail: expect.stringContaining('a credential is needed'),
        recommendations: [expect.stringContaining('Authorization: Bearer')],
      }),
    ]);
    const doctor = await place.run(['doctor'], { PATCHBOARD_URL: url });
    expect(doctor.out).toMatch(/ok +local mode +off: requests need a credential/);
    expect(doctor.out).not.toMatch(/planted|ssword/);
    await server.stop();
    const { transcript } = await place.terminal([['Stop with', 'SIGTERM']], SERVE);
    expect(transcript).toContain('export PATCHBOARD_OPERATOR_TOKEN=…   # as set for this server');
    expect(transcript).toContain('npx patchboard keys create --kind agent --name me');
    expect(transcript).not.toMatch(/planted|ssword/);
  });

  it('starts again in its process when another node has taken over its calls', async () => {
    const server = place.start(SERVE);
    await ready(server);
    await sql(`update ${schema}.writers set epoch = epoch + 1`);
    await server.says(/ready at[^]*ready at \S+.*\n/);
    const { code, error } = await server.stop();
    expect(code).toBe(0);
    const events = error
      .split('\n')
      .flatMap((line) => /"event":"(\S+\.(?:fenced|restarting))"/.exec(line)?.[1] ?? []);
    expect(events).toEqual(['engine.fenced', 'server.restarting']);
  });
});

describe('a start on PostgreSQL is refused', { timeout: LONG }, () => {
  it('without an operator token', async () => {
    const refused = await place.run(SERVE, { PATCHBOARD_OPERATOR_TOKEN: '' });
    expectSilentRefusal(
      refused,
      'PATCHBOARD_OPERATOR_TOKEN is not set: with PostgreSQL it must hold a token',
    );
  });

  it('with a URL that cannot be used', async () => {
    const refused = await place.run(SERVE, { DATABASE_URL: `${withPassword(service.url)}?sslmode=on` });
    expectSilentRefusal(refused, 'DATABASE_URL has sslmode=on; it is one of disable, allow');
  });

  it('for a role without privileges, and changes nothing', async () => {
    const role = `${schema}_role`;
    await sql(`create role ${role} login`);
    try {
      const url = withPassword(service.urlFor(role, 'postgres'));
      const refused = await place.run(SERVE, { DATABASE_URL: url });
      expectSilentRefusal(
        refused,
        /has no schema \w+, and the role \w+ may not create it; .*create schema \w+ authorization/,
      );
      expect(await sql(`select 1 from pg_namespace where nspname = '${schema}'`)).toEqual([]);
    } finally {
      await sql(`drop role ${role}`);
    }
  });

  it('if database.query could read the store, and not for a role that cannot', async () => {
    const role = `${schema}_reader`;
    await sql(`create role ${role} login`);
    try {
      const configured = async (url: string): Promise<string> =>
        await place.write(
          'config.json',
          JSON.stringify({ store: { schema }, tools: { 'database.query': { database: url } } }),
        );
      // The same database by another name.
      const own = withPassword(service.url).replace('127.0.0.1', 'localhost');
      const refused = await place.run(SERVE, { PATCHBOARD_CONFIG: await configured(own) });
      expectSilentRefusal(
        refused,
        `use a role without privileges on the schema ${schema}, or another database`,
      );
      place.environment['PATCHBOARD_CONFIG'] = await configured(service.urlFor(role, 'postgres'));
      const server = place.start(SERVE);
      await ready(server);
      expect((await server.stop()).code).toBe(0);
    } finally {
      await sql(`drop role ${role}`);
    }
  });
});
