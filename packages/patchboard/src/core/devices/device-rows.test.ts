import { expect, it } from 'vitest';
import { FakeClock, settled } from '../../../test/support/fake-clock.ts';
import { StorageUnavailable } from '../failures.ts';
import type { LedgerDraft } from '../ledger/ledger.ts';
import { Tasks } from '../tasks.ts';
import type { Device } from './device.ts';
import { DeviceRows } from './device-rows.ts';

const ONE: Device = {
  session: 'ds_1',
  firstSession: 'ds_1',
  tenant: 'default',
  clientId: 'desk',
  name: 'camera',
  connectedAt: 0,
  resumeToken: null,
  tools: new Set(),
  calls: new Set(),
  reserved: 0,
  link: null,
};

/** The rows of a ledger whose commits can fail. */
class Scene {
  readonly clock = new FakeClock();
  readonly lifecycle = { isClosed: false };
  readonly commits: unknown[][] = [];
  readonly logged: string[] = [];
  failure: Error | null = null;
  readonly rows: DeviceRows;

  constructor() {
    const log = (event: string): void => void this.logged.push(event);
    this.rows = new DeviceRows({
      store: { append: async (drafts) => await this.#append(drafts) },
      clock: this.clock,
      tasks: new Tasks({ info: log, warn: log, error: log }),
      lifecycle: this.lifecycle,
    });
  }

  async #append(drafts: readonly LedgerDraft[]): Promise<void> {
    await settled();
    if (this.failure !== null) throw this.failure;
    this.commits.push(drafts.map(({ body }) => (JSON.parse(body) as { state: string }).state));
  }
}

it('writes the changes of 20 ms in one commit', async () => {
  const { rows, clock, commits } = new Scene();
  rows.record(ONE, 'online');
  await clock.advance(19);
  rows.record(ONE, 'away');
  expect(commits).toEqual([]);
  await clock.advance(1);
  rows.record(ONE, 'gone');
  await clock.advance(20);
  expect(commits).toEqual([['online', 'away'], ['gone']]);
});

it('repeats a commit while the store is unavailable, with the rows that were recorded meanwhile', async () => {
  const scene = new Scene();
  scene.failure = new StorageUnavailable('the database cannot be reached');
  scene.rows.record(ONE, 'online');
  await scene.clock.advance(20);
  scene.rows.record(ONE, 'away');
  scene.failure = null;
  await scene.clock.advance(1000);
  expect(scene.commits).toEqual([['online', 'away']]);
  expect(scene.logged).toEqual([]);
});

it('keeps the newest 10,000 rows while the store is unavailable', async () => {
  const scene = new Scene();
  scene.failure = new StorageUnavailable('the database cannot be reached');
  scene.rows.record(ONE, 'online');
  for (let row = 0; row < 10_000; row += 1) scene.rows.record(ONE, 'gone');
  await scene.clock.advance(20);
  scene.failure = null;
  await scene.clock.advance(1000);
  expect(scene.commits.map((commit) => commit.length)).toEqual([10_000]);
  expect(scene.commits[0]).not.toContain('online');
});

it('gives up once the engine is closed, and after another error', async () => {
  const scene = new Scene();
  scene.failure = new StorageUnavailable('the database cannot be reached');
  scene.lifecycle.isClosed = true;
  scene.rows.record(ONE, 'online');
  await scene.clock.advance(20);
  scene.lifecycle.isClosed = false;
  scene.failure = new Error('a bug');
  scene.rows.record(ONE, 'away');
  await scene.clock.advance(20);
  expect(scene.logged).toEqual(['task.failed', 'task.failed']);
  scene.failure = null;
  scene.rows.record(ONE, 'gone');
  await scene.clock.advance(2000);
  expect(scene.commits).toEqual([['gone']]);
});
