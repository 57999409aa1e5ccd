import { Logger, run, type Task } from 'graphile-worker';
import pg from 'pg';
import { ECHO_ARGS } from '../bench-pack.ts';
import { Endings } from '../lives.ts';
import { POOL_SIZE, type Peer, type PeerSettings } from './peer.ts';

/**
 * Jobs and their worker in one process, tuned by its performance guide: jobs are fetched and completed in
 * batches. It stores no results: a task is done when its job is deleted. With `keepsResults` the task inserts its
 * result into a table before it returns.
 */
export async function openGraphileWorker(settings: PeerSettings): Promise<Peer> {
  const { address, concurrency, keepsResults = false } = settings;
  if (keepsResults) await createResults(address);
  const runner = await run({
    preset: {
      worker: {
        connectionString: address,
        concurrentJobs: concurrency,
        maxPoolSize: POOL_SIZE,
        pollInterval: 2000,
        localQueue: { size: concurrency + 1 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    taskList: { echo: keepsResults ? storeResult : async () => {} },
  });
  const endings = new Endings();
  runner.events.on('job:complete', ({ job }) => endings.ended(String(job.id)));
  return {
    runOnce: async () => {
      const job = await runner.addJob('echo', ECHO_ARGS);
      await endings.of(String(job.id));
    },
    close: async () => await runner.stop(),
  };
}

const storeResult: Task = async (payload, helpers) => {
  const { job } = helpers;
  await helpers.query('insert into results (job, result) values ($1, $2)', [job.id, JSON.stringify(payload)]);
};

async function createResults(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query('create table results (job bigint primary key, result text not null)');
  await client.end();
}
