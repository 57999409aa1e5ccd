import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { aFolder } from '../../../../test/support/a-folder.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import type { Call } from '../../../core/call/call.ts';
import type { Store } from '../../../core/ports.ts';
import { nodeClock } from '../../../runtime/node-clock.ts';
import { SILENT_LOG } from '../../../runtime/silent-log.ts';
import { startIndexing } from '../../../wiring/call-indexing.ts';
import { digest, insertAll } from '../../samples.contract.ts';
import { endedCalls, FIRST_HOUR, refusedRows } from '../../search-samples.contract.ts';
import { sqliteStore } from '../sqlite-store.ts';
import { indexFileOf } from './index-file.ts';

const SOURCES = new URL('../../../', import.meta.url).href;
const CALLS = 4000;
const HOUR_MS = 3_600_000;
/** Metrics of old calls are not kept. */
const SHIFT_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - FIRST_HOUR;

/** Indexes the store, and prints the position after each batch. */
const PROGRAM = `
  const { nodeClock } = await import('${SOURCES}runtime/node-clock.ts');
  const { nodeDigest } = await import('${SOURCES}runtime/digest.ts');
  const { SILENT_LOG } = await import('${SOURCES}runtime/silent-log.ts');
  const { startIndexing } = await import('${SOURCES}wiring/call-indexing.ts');
  const { sqliteStore } = await import('${SOURCES}store/sqlite/sqlite-store.ts');
  const store = await sqliteStore({ file: process.argv[2], digest: nodeDigest });
  const { indexWriter } = store;
  const apply = indexWriter.apply.bind(indexWriter);
  indexWriter.apply = async (batch) => {
    const applied = await apply(batch);
    process.stdout.write(batch.to.seq + '\\n');
    return applied;
  };
  startIndexing({ store, clock: nodeClock, log: SILENT_LOG }, null);
  setInterval(() => {}, 1000);
`;

/** Kills the process while it writes the batch after the first one that it has applied. */
async function indexAndKill(file: string): Promise<number> {
  // A file, because threads of a program of the command line do not start.
  const program = `${file}.mts`;
  writeFileSync(program, PROGRAM);
  const flags = ['--conditions=patchboard-source', program, file];
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  child.kill('SIGKILL');
  await exited;
  return Number(line);
}

/** Everything that the index returns. */
async function contentOf({ search }: Store): Promise<unknown> {
  if (search === undefined) throw new Error('the store has no search');
  const tenant = 'acme';
  const all = { tenant: null, since: 0, until: FIRST_HOUR + SHIFT_MS + 24 * HOUR_MS, stepMs: HOUR_MS };
  return {
    position: await search.position(),
    longest: await search.find({ tenant }, { by: 'ran', isAscending: false }, null, 2 * CALLS),
    oslo: await search.find({ tenant, texts: ['oslo'] }, { by: 'created', isAscending: true }, null, CALLS),
    refusals: await search.refusals({ tenant }, null, 100),
    runs: await search.runTotals(tenant, ['run_0', 'run_1', 'run_5']),
    metrics: await search.metrics({ ...all, by: 'tool' }, 100),
  };
}

async function indexedContent(file: string): Promise<unknown> {
  const store = await sqliteStore({ file, digest });
  const stop = startIndexing({ store, clock: nodeClock, log: SILENT_LOG }, null);
  const { seq } = await store.ledgerHead();
  await waitFor(async () => expect(await store.search?.position()).toBe(seq));
  const content = await contentOf(store);
  await stop();
  await store.close();
  return content;
}

function recent(call: Call): Call {
  const timeline = call.timeline.map((entry) => ({ ...entry, at: entry.at + SHIFT_MS }));
  return { ...call, createdAt: call.createdAt + SHIFT_MS, timeline };
}

it('an index whose process was killed while it was written continues, and equals one that is made anew', async () => {
  const file = join(await aFolder(), 'store.db');
  const store = await sqliteStore({ file, digest });
  await insertAll(store, endedCalls(CALLS).map(recent));
  await store.append(refusedRows(30));
  const { seq } = await store.ledgerHead();
  await store.close();

  const first = await indexAndKill(file);
  const second = await indexAndKill(file);
  expect([first > 0, second > first, second < seq]).toEqual([true, true, true]);
  const continued = await indexedContent(file);
  rmSync(indexFileOf(file));
  rmSync(`${indexFileOf(file)}-wal`, { force: true });
  expect(continued).toEqual(await indexedContent(file));
  expect(continued).toMatchObject({ position: seq });
});
