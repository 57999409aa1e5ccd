import { Queue, Worker } from 'bullmq';
import { ECHO_ARGS } from '../bench-pack.ts';
import { Endings } from '../lives.ts';
import type { Peer, PeerSettings } from './peer.ts';

/**
 * A queue and its worker in one process, with a separate Redis. The end of a job is the worker's local
 * event, which saves BullMQ a second stream over the network.
 */
export async function openBullmq({ address, concurrency }: PeerSettings): Promise<Peer> {
  const connection = { path: address, maxRetriesPerRequest: null };
  const queue = new Queue('bench', { connection });
  const worker = new Worker('bench', async (job) => job.data, { connection, concurrency });
  const endings = new Endings();
  worker.on('completed', (job) => endings.ended(job.id ?? ''));
  await worker.waitUntilReady();
  return {
    runOnce: async () => {
      const job = await queue.add('echo', ECHO_ARGS);
      await endings.of(job.id ?? '');
    },
    close: async () => {
      await worker.close();
      await queue.close();
    },
  };
}
