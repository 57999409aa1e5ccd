import { Logger, run } from 'graphile-worker';
import { ECHO_ARGS } from '../bench-pack.ts';
import { Endings } from '../lives.ts';
import { POOL_SIZE, type Peer, type PeerSettings } from './peer.ts';

/**
 * Jobs and their worker in one process, tuned by its performance guide: jobs are fetched and completed in
 * batches. It stores no results; a task is done when its job is deleted.
 */
export async function openGraphileWorker({ address, concurrency }: PeerSettings): Promise<Peer> {
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
    taskList: { echo: async () => {} },
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
