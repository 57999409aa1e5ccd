import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';

import { YANTIAN } from '../../src/packs/heritage/sample/yantian.ts';
import { aSchema, sharedPostgres } from '../services/shared-postgres.ts';
import { aFolder } from '../support/a-folder.ts';
import { runCli } from '../support/run-cli.ts';

it('imports and exports the data of a site in a PostgreSQL database', async () => {
  const service = await sharedPostgres(15);
  const schema = aSchema(service);
  const folder = await aFolder();
  const file = join(folder, 'village.json');
  await writeFile(file, JSON.stringify(YANTIAN));
  const site = ['--tenant', 'acme', '--site', 'old-town'];
  const database = ['--database', service.url, '--schema', schema];
  const environment = { PATCHBOARD_DATA: join(folder, 'data') };

  const early = await runCli(['data', 'export', ...site, ...database], environment);
  expect(early.code).not.toBe(0);
  expect(early.error).toContain(`site old-town in ${service.url}, schema ${schema}`);
  expect(await schemasLike(service.url, schema)).toEqual([]);

  expect(await runCli(['data', 'import', file, ...site, ...database], environment)).toMatchObject({
    code: 0,
  });
  const out = join(folder, 'exported.json');
  const exported = await runCli(['data', 'export', ...site, '--schema', schema, '--out', out], {
    ...environment,
    DATABASE_URL: service.url,
  });
  expect(exported).toMatchObject({ code: 0 });
  expect(JSON.parse(await readFile(out, 'utf8'))).toMatchObject({ contents: YANTIAN.contents });

  const gone = await runCli(
    ['data', 'export', ...site, '--database', 'postgres://a:hidden@127.0.0.1:1/b'],
    environment,
  );
  expect(gone.error).toMatch(/cannot use postgres:\/\/a@127\.0\.0\.1:1\/b: .*ECONNREFUSED/);
});

async function schemasLike(url: string, name: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  return (await client.query('select nspname from pg_namespace where nspname = $1', [name])).rows;
}
