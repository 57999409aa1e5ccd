import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { aCall, aRecord, callId, completed, insertAll, rowsOf } from '../../src/store/samples.contract.ts';
import { startPostgres, type PostgresService } from '../services/postgres.ts';
import { waitFor } from '../support/wait-for.ts';
import { aPostgresStore, aSession, verifiedRows } from './support/a-postgres-store.ts';

const WORKERS = 12;
let service: PostgresService;

beforeAll(async () => {
  service = await startPostgres();
});
afterAll(() => service.close());

/** Makes calls until it is stopped. Every write must succeed, with the result of its first execution. */
class Load {
  readonly #store: PostgresStore;
  readonly #workers: Promise<void>[];
  isRunning = true;
  calls = 0;

  constructor(store: PostgresStore) {
    this.#store = store;
    this.#workers = Array.from({ length: WORKERS }, (_, worker) => this.#work(worker));
  }

  async more(calls: number): Promise<void> {
    const goal = this.calls + calls;
    await Promise.race([waitFor(() => expect(this.calls).toBeGreaterThan(goal)), ...this.#workers]);
  }

  async stop(): Promise<void> {
    this.isRunning = false;
    await Promise.all(this.#workers);
  }

  async #work(worker: number): Promise<void> {
    for (let n = worker; this.isRunning; n += WORKERS) {
      const call = aCall(n, { runId: `run_${n}` });
      const key = { scope: call.id, bodyHash: 'b', expiresAt: 9e12 };
      expect(await this.#store.insertCall(aRecord(call, key))).toEqual({ kind: 'inserted' });
      const done = completed(call);
      expect(await this.#store.replaceCall(done, 1, rowsOf(done, 1))).toEqual({ kind: 'replaced' });
      expect(await this.#store.findCall(call.id)).toEqual(done);
      expect(await this.#store.appendJournal(call.id, 0, [{ kind: 'message', body: '{}' }])).toBe(true);
      this.calls += 1;
    }
  }
}

describe('a PostgreSQL server', () => {
  it('that restarts, also without a shutdown, under load loses no write and no caller notices', async () => {
    const store = await aPostgresStore(service.url, { schema: 'restarts' });
    const load = new Load(store);
    for (const mode of ['fast', 'immediate'] as const) {
      await load.more(50);
      await service.restart(mode);
    }
    await load.more(50);
    await load.stop();
    expect(await verifiedRows(store)).toBe(load.calls * 3);
    expect(await store.countByState()).toEqual({ COMPLETED: load.calls });
    expect(store.writeProblem()).toBeNull();
  });

  it('that is restored to an earlier state stops the store, and nothing more is written', async () => {
    const store = await aPostgresStore(service.url, { schema: 'restored' });
    const problems: string[] = [];
    store.onFenced((problem) => problems.push(problem));
    await insertAll(store, [aCall(1)]);
    await service.stop();
    const copy = `${service.data}.copy`;
    expect(spawnSync('cp', ['-a', service.data, copy]).status).toBe(0);
    await service.start();
    await insertAll(store, [aCall(2, { runId: 'run_2' })]);
    await service.stop();
    expect(spawnSync('sh', ['-c', `rm -r ${service.data} && mv ${copy} ${service.data}`]).status).toBe(0);
    await service.start();
    // Its run is one that this process knows, and the database not any more.
    const lost = store.insertCall(aRecord(aCall(3, { runId: 'run_2' })));
    await expect(lost).rejects.toMatchObject({ name: 'WriterLost' });
    const message = 'the database was restored to an earlier state (batch 1 instead of 2)';
    expect(problems).toEqual([expect.stringContaining(message)]);
    await expect(insertAll(store, [aCall(4)])).rejects.toThrow(message);
    expect(store.writeProblem()).toContain(message);
    const session = await aSession(service.url);
    expect((await session.query('select id from restored.calls')).rows).toEqual([{ id: callId(1) }]);
  });

  it('that is restored while nothing is written stops the store too', async () => {
    const store = await aPostgresStore(service.url, { schema: 'restored_idle' });
    const problems: string[] = [];
    store.onFenced((problem) => problems.push(problem));
    await insertAll(store, [aCall(1)]);
    // As a restored database has it.
    const session = await aSession(service.url);
    await session.query('delete from restored_idle.segments');
    await waitFor(() =>
      expect(problems).toEqual([
        expect.stringMatching(/restored to an earlier state \(batch 0 instead of 1\)/),
      ]),
    );
  });
});
