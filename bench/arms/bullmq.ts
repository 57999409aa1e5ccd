// A queue and its worker in one process, with a separate Redis. The end of a job is the worker's local event,
// which saves BullMQ a second stream over the network.
import process from 'node:process';
import { Queue, Worker } from 'bullmq';
import { ECHO_ARGS } from './bench-pack.ts';
import { Endings, measureLives, type LifeSettings } from './lives.ts';

export interface BullmqSettings extends LifeSettings {
  readonly socket: string;
}

const settings = JSON.parse(process.argv[2] ?? '') as BullmqSettings;
const connection = { path: settings.socket, maxRetriesPerRequest: null };
const queue = new Queue('bench', { connection });
const worker = new Worker('bench', async (job) => job.data, {
  connection,
  concurrency: settings.concurrency,
});
const endings = new Endings();
worker.on('completed', (job) => endings.ended(job.id ?? ''));
await worker.waitUntilReady();

await measureLives(settings, async () => {
  const job = await queue.add('echo', ECHO_ARGS);
  await endings.of(job.id ?? '');
});
await worker.close();
await queue.close();
