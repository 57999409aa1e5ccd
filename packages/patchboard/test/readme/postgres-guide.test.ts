import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { aCall, aRecord } from '../../src/store/samples.contract.ts';
import { findPostgres } from '../services/postgres-binaries.ts';
import { startPostgres } from '../services/postgres.ts';
import { withClient } from '../services/with-client.ts';
import { runCommand, startCommand } from '../support/run-command.ts';
import { cleanEnvironment, ROOT } from '../support/server-process.ts';
import { mkdir } from 'node:fs/promises';
import { blocksOf } from './markdown.ts';

/** The blocks of the guide, in order. Each is run where the reader would run it. */
const BLOCKS = blocksOf(readFileSync(join(ROOT, 'docs/guides/postgres.md'), 'utf8'));

it('docs/guides/postgres.md shows SQL and commands that do what it says', { timeout: 180_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-guide-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const service = await startPostgres({ durable: true });
  onTestFinished(() => service.close());
  const programs = findPostgres(15, join(folder, 'binaries')).folder;
  const here = (text: string): string => text.replaceAll('db.example', `127.0.0.1:${service.port}`);

  const sql = async (text: string, database: string): Promise<void> => {
    const statements = text.split(/;\n?/).filter((one) => one.trim() !== '');
    await withClient(service.urlFor('postgres', database), async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  };

  await mkdir(join(folder, '.patchboard'), { mode: 0o700 });
  const old = await sqliteStore({ file: join(folder, '.patchboard', 'patchboard.db'), digest: nodeDigest });
  await old.insertCall(aRecord(aCall(1)));
  await old.close();

  const exports: string[] = [];
  const env = {
    ...cleanEnvironment(),
    PATH: [programs, join(ROOT, 'node_modules', '.bin'), process.env['PATH']].join(delimiter),
    PGPASSWORD: 'change-me',
    PATCHBOARD_URL: 'http://127.0.0.1:9',
  };
  const type = async (code: string): Promise<string> => {
    const script = `set -eu\n${exports.join('\n')}\n${code}`;
    const { code: ended, out, error } = await runCommand('bash', ['-c', script], { cwd: folder, env });
    if (ended !== 0) throw new Error(`${code}\nended with ${ended}: ${out}${error}`);
    return out;
  };

  let printed = '';
  let server: ReturnType<typeof startCommand> | null = null;
  let address = '';
  for (const { language, code, mark } of BLOCKS) {
    if (mark === 'postgres server') {
      const script = `${exports.join('\n')}\nexec node_modules/.bin/${code.replace('npx ', '')} --port 0`;
      server = startCommand('bash', ['-c', script], {
        cwd: folder,
        env: { ...env, PATCHBOARD_DATA: 'data' },
      });
      const ready = await server.says(/ready at .*\n/);
      expect(ready).toContain(`store: postgres://patchboard@127.0.0.1:${service.port}/`);
      address = /ready at (\S+)/.exec(ready)?.[1] ?? '';
    } else if (mark === 'postgres calls') {
      const lines = code.replaceAll('http://127.0.0.1:8080', address);
      const out = await type(`export PATCHBOARD_URL=${address}\n${lines}`);
      expect(out).toMatch(/^42\n\{"tools":\[/);
      expect(out).toContain(`${address}/#login=`);
      expect((await server?.stop())?.code).toBe(0);
    } else if (mark === 'postgres output') expect(printed).toBe(`${here(code)}\n`);
    else if (language === 'sql') {
      await sql(code, code.includes('create database') ? 'postgres' : 'patchboard');
    } else if (code.includes('data copy')) {
      // The schema is in use by then.
      printed = await type(`${code} --schema moved`);
      expect(printed).toMatch(/^calls +1 +1 +[0-9a-f]{16} +same$/m);
    } else {
      for (const line of here(code).split('\n')) {
        const name = /^export (\w+)=/.exec(line)?.[1];
        // Evaluated once: the value may be random, and every terminal has the same.
        if (name !== undefined)
          exports.push(`export ${name}='${await type(`${line}\nprintf %s "$${name}"`)}'`);
      }
      printed = await type(
        here(code)
          .split('\n')
          .filter((line) => !line.startsWith('export '))
          .join('\n'),
      );
      if (code.includes('backup')) await type(printed);
    }
  }

  // The plain role works, and cannot change the ledger.
  const plain = `postgres://patchboard_app:change-me-too@127.0.0.1:${service.port}/patchboard`;
  exports.push(`export DATABASE_URL='${plain}'`);
  expect(await type('npx patchboard keys create --kind agent --name bob')).toMatch(/^pb_/);
  const findings = await type('npx patchboard doctor');
  expect(findings).toMatch(/^ok +privileges +role patchboard_app can read, write but not migrate/m);
  expect(findings).not.toMatch(/^warn +privileges/m);
});
