import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CallView, LedgerRowView, LedgerVerdictView, MintedKeyView } from '@patchboard/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { runCommand, type Finished } from '../support/run-command.ts';
import { cleanEnvironment, CLI } from '../support/server-process.ts';
import { LONG, Workplace } from './cli-process.ts';

let place: Workplace;

beforeEach(async () => {
  place = await Workplace.create();
  return () => place.remove();
});

interface BackupJson {
  readonly file: string;
  readonly bytes: number;
  readonly head: { readonly seq: number; readonly hash: string };
}

/** A new data folder with the backup as its store, as the guide says. */
async function restore(file: string): Promise<string> {
  const folder = join(place.folder, 'restored');
  await mkdir(folder, { mode: 0o700 });
  await copyFile(file, join(folder, 'patchboard.db'));
  return folder;
}

describe('backup with a server', { timeout: LONG }, () => {
  it('writes a file that a new data folder starts with: same calls, same keys, same ledger', async () => {
    let stop = await place.serve();
    const agent = await place.json<MintedKeyView>(['keys', 'create', '--kind', 'agent', '--name', 'bob']);
    const key = { PATCHBOARD_KEY: agent.key };
    const call = await place.json<CallView>(['call', 'calculation.eval', 'expression=6*7'], key);
    const file = join(place.folder, 'copy.db');

    const made = await place.json<BackupJson>(['backup', file]);
    expect(made).toMatchObject({ file, bytes: statSync(file).size });
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const exists = await place.run(['backup', file]);
    expect(exists).toMatchObject({ code: 2, out: '' });
    expect(exists.error).toContain('exists; name another file, or replace it with --force');
    const replaced = await place.run(['backup', file, '--force']);
    expect(replaced.code).toBe(0);
    expect(replaced.out).toMatch(/copy\.db: \d+ bytes, up to ledger row \d+\n$/);
    expect((await place.run(['backup', join(place.folder, 'no', 'copy.db')])).code).toBe(2);
    const { rows } = await place.json<{ rows: readonly LedgerRowView[] }>(['ledger', 'ls']);
    // No copy was made of what could not be written.
    expect(rows.filter(({ kind }) => kind === 'store.copied')).toHaveLength(2);
    expect((await place.run(['backup', `${file}2`], key)).code).toBe(3);
    expect(existsSync(`${file}2`)).toBe(false);
    await stop();

    const folder = await restore(file);
    const verdict = await place.json<LedgerVerdictView>(['ledger', 'verify', '--data', folder]);
    expect(verdict).toMatchObject({ ok: true, head: { seq: verdict.rows } });
    expect(verdict.rows).toBeGreaterThan(made.head.seq);
    place.environment['PATCHBOARD_DATA'] = folder;
    stop = await place.serve();
    const found = await place.json<CallView>(['calls', 'show', call.tool_call_id], key);
    expect(found).toMatchObject({ state: 'COMPLETED', result: call.result });
    expect((await place.run(['tools'])).code).toBe(3);
    await stop();
  });

  it('or an export that a signal ends leaves no part of the file', async () => {
    const slow = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/jsonl' }).write('{"seq":1}\n');
    });
    await once(slow.listen(0, '127.0.0.1'), 'listening');
    const { port } = slow.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const parts = (): string[] => readdirSync(place.folder).filter((name) => name.endsWith('.part'));
    const exporting = place.start(['ledger', 'export', '--out', 'ledger.jsonl', '--url', url]);
    await expect.poll(parts).toHaveLength(1);
    expect((await exporting.stop()).code).toBe(143);
    expect(parts()).toEqual([]);
    slow.closeAllConnections();
    slow.close();
  });

  it('of a store that is restored beside the newer head file is refused, with the way out', async () => {
    const stop = await place.serve();
    const file = join(place.folder, 'copy.db');
    await place.json(['backup', file]);
    await place.run(['call', 'calculation.eval', 'expression=1']);
    await stop();
    await copyFile(file, join(place.data, 'patchboard.db'));
    const refused = await place.run(['serve', '--port', '0']);
    expect(refused.code).toBe(2);
    expect(refused.error).toContain('patchboard data accept-loss');
  });
});

describe('backup without a server', { timeout: LONG }, () => {
  it('copies the data folder, and leaves nothing of what fails', async () => {
    expect((await place.run(['backup', 'copy.db'])).code).toBe(6);
    await place.run(['keys', 'create', '--kind', 'agent', '--name', 'bob']);
    const noted = await place.run(['backup', 'copy.db', '--json']);
    expect(noted.error).toContain(`using the data folder ${place.data} directly`);
    const { head } = JSON.parse(noted.out) as BackupJson;
    expect(head.seq).toBe(1);
    expect((await place.run(['backup', 'other.db', '--data', place.data])).code).toBe(0);
    expect((await place.run(['backup', 'none.db', '--data', place.folder])).code).toBe(2);
    writeFileSync(join(place.data, 'patchboard.db'), 'no database at all, but long enough to look like one');
    const damaged = await place.run(['backup', 'third.db']);
    expect(damaged.code).toBe(2);
    expect(damaged.error).toContain('patchboard.db is not a Patchboard store');
    const files = readdirSync(place.folder).filter((name) => name.includes('.db'));
    expect(files.toSorted()).toEqual(['copy.db', 'other.db']);
  });
});

/** The folder `disk` is a file system of this size, for this command alone; then prints what is left in it. */
async function onSmallDisk(disk: string, bytes: number, command: string): Promise<Finished> {
  const script = `mount -t tmpfs -o size=${bytes} tmpfs "$DISK" && { ${command}; code=$?; ls -A "$DISK"; exit $code; }`;
  return await runCommand('unshare', ['--user', '--map-root-user', '--mount', 'bash', '-c', script], {
    cwd: place.folder,
    env: { ...cleanEnvironment(), ...place.environment, DISK: disk, NODE: process.execPath, CLI },
  });
}

describe('backup on a full disk', { timeout: LONG }, () => {
  const MEGABYTE = 1024 * 1024;
  let disk: string;

  beforeEach(async () => {
    disk = join(place.folder, 'disk');
    await mkdir(disk);
    await mkdir(place.data, { mode: 0o700 });
    const store = await sqliteStore({ file: join(place.data, 'patchboard.db'), digest: nodeDigest });
    const body = 'x'.repeat(MEGABYTE);
    for (let no = 0; no < 3; no += 1) await store.appendJournal('j', no, [{ kind: 'k', body }]);
    await store.close();
  });

  afterEach(() => expect(readFileSync(join(place.data, 'patchboard.db')).length).toBeGreaterThan(MEGABYTE));

  it.each(['a download', 'a copy of the folder'])('of the target: %s leaves nothing there', async (way) => {
    const stop = way === 'a download' ? await place.serve() : () => Promise.resolve();
    const ended = await onSmallDisk(disk, MEGABYTE, '"$NODE" "$CLI" backup "$DISK/copy.db"');
    expect(ended).toMatchObject({ code: 1, out: '' });
    expect(ended.error).toContain(`the disk of ${join(disk, 'copy.db')} has no space for it`);
    await stop();
  });

  it('of the server is 507, and leaves no copy beside the store', async () => {
    const command = [
      'cp -a data "$DISK/data" && export PATCHBOARD_DATA="$DISK/data"',
      '{ coproc "$NODE" "$CLI" serve --port 0; }',
      'read -r -u "${COPROC[0]}" line',
      'while [[ "$line" != *"ready at "* ]]; do read -r -u "${COPROC[0]}" line; done',
      'url=${line#*ready at }',
      '"$NODE" "$CLI" backup copy.db --url "${url%% *}"; made=$?',
      'ls "$DISK/data" | grep copy; kill "$COPROC_PID"; wait "$COPROC_PID"; rm -r "$DISK/data"',
      '(exit $made)',
    ].join('\n');
    const ended = await onSmallDisk(disk, 5 * MEGABYTE, command);
    expect(ended).toMatchObject({ code: 1, out: '' });
    expect(ended.error).toContain('has no space for a second copy of the store');
    expect(existsSync(join(place.folder, 'copy.db'))).toBe(false);
  });
});
