import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { postgresStore } from '../../src/store/postgres/open.ts';
import { aCall, callId, idsOf, insertAll } from '../../src/store/samples.contract.ts';
import { aSchema, sharedPostgres } from '../services/shared-postgres.ts';
import { cleanEnvironment } from '../support/server-process.ts';
import { waitFor } from '../support/wait-for.ts';
import { aPostgresStore, storeOptions, verifiedRows } from './support/a-postgres-store.ts';

const CHILD = fileURLToPath(new URL('support/store-child.ts', import.meta.url));
const service = await sharedPostgres(15);

interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  says(expected: RegExp): Promise<void>;
}

/** A process that has the store open and has written call 1. */
async function aProcess(schema: string): Promise<Child> {
  const flags = ['--conditions=patchboard-source', CHILD, service.url, schema];
  const child = spawn(process.execPath, flags, { env: cleanEnvironment(), stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  const says = (expected: RegExp): Promise<void> => waitFor(() => expect(said).toMatch(expected));
  await says(/^open$/m);
  child.stdin.write('1\n');
  await says(/^1 inserted$/m);
  return { process: child, says };
}

it('refuses a second server while the first lives, and lets it take over from a killed or stopped one', async () => {
  const [killed, stopped] = [aSchema(service), aSchema(service)];
  const [first, paused] = await Promise.all([aProcess(killed), aProcess(stopped)]);
  await expect(postgresStore(storeOptions(service.url, { schema: stopped }))).rejects.toMatchObject({
    name: 'StoreInUse',
    message: expect.stringMatching(
      /^[^\n]* is in use by another server \(\S+, process \d+\); stop that server first[^\n]*$/,
    ),
  });
  first.process.kill('SIGKILL');
  paused.process.kill('SIGSTOP');
  const [afterKill, second] = await Promise.all(
    [killed, stopped].map((schema) => aPostgresStore(service.url, { schema })),
  );
  expect(await afterKill?.findCall(callId(1))).toEqual(aCall(1));
  if (second === undefined) throw new Error('the store is missing');
  await insertAll(second, [aCall(2)]);
  paused.process.stdin.write('3\n');
  paused.process.kill('SIGCONT');
  await paused.says(/^3 WriterLost$/m);
  await paused.says(/^fenced: another server has taken over this database/m);
  expect(idsOf((await second.listCalls({ tenant: 'acme' }, null, 10)).items)).toEqual([callId(2), callId(1)]);
  await insertAll(second, [aCall(4)]);
  expect(await verifiedRows(second)).toBe(3);
});
