import { PgBoss } from 'pg-boss';
import { ECHO_ARGS } from '../bench-pack.ts';
import { Endings } from '../lives.ts';
import { POOL_SIZE, type Peer, type PeerSettings } from './peer.ts';

const QUEUE = 'bench';
/** Fetches under way at a time; more of them only share the jobs. */
const FETCHERS = 2;

/**
 * Jobs and their worker in one process. Jobs are fetched and completed in batches with `fetch` and
 * `complete`, as soon as this process sent one: the worker of `work()` polls, or waits for `NOTIFY`. The result
 * is stored with the job.
 */
export async function openPgBoss({ address, concurrency }: PeerSettings): Promise<Peer> {
  const boss = new PgBoss({ connectionString: address, max: POOL_SIZE, schedule: false });
  boss.on('error', (error) => {
    throw error;
  });
  await boss.start();
  await boss.createQueue(QUEUE);
  const endings = new Endings();
  const idle: (() => void)[] = [];
  let isClosing = false;

  /** Jobs sent and not fetched yet. */
  let sent = 0;
  const work = async (): Promise<void> => {
    let found = 0;
    while (!isClosing) {
      // A fetch finds nothing if the other one has the jobs.
      if (sent === 0 || found === 0) await new Promise<void>((resolve) => idle.push(resolve));
      const jobs = await boss.fetch(QUEUE, { batchSize: concurrency });
      found = jobs.length;
      if (found === 0) continue;
      sent -= jobs.length;
      const ids = jobs.map((job) => job.id);
      await boss.complete(QUEUE, ids, ECHO_ARGS);
      for (const id of ids) endings.ended(id);
    }
  };
  const workers = Array.from({ length: FETCHERS }, work);
  return {
    runOnce: async () => {
      const id = await boss.send(QUEUE, ECHO_ARGS);
      if (id === null) throw new Error('pg-boss did not accept the job');
      sent += 1;
      idle.pop()?.();
      await endings.of(id);
    },
    close: async () => {
      isClosing = true;
      for (const wake of idle) wake();
      await Promise.all(workers);
      await boss.stop({ graceful: false });
    },
  };
}
