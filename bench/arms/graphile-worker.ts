// Jobs and their worker in one process, with a separate PostgreSQL, tuned by its performance guide: jobs are
// fetched and completed in batches. It stores no results; a task is done when its job is deleted.
import process from 'node:process';
import { Logger, run } from 'graphile-worker';
import { ECHO_ARGS } from './bench-pack.ts';
import { Endings, measureLives, type LifeSettings } from './lives.ts';

export interface GraphileWorkerSettings extends LifeSettings {
  readonly url: string;
}

const settings = JSON.parse(process.argv[2] ?? '') as GraphileWorkerSettings;
const runner = await run({
  preset: {
    worker: {
      connectionString: settings.url,
      concurrentJobs: settings.concurrency,
      maxPoolSize: 20,
      pollInterval: 2000,
      localQueue: { size: settings.concurrency + 1 },
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

await measureLives(settings, async () => {
  const job = await runner.addJob('echo', ECHO_ARGS);
  await endings.of(String(job.id));
});
await runner.stop();
