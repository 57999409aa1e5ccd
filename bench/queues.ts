import type { PeerContender } from './contenders.ts';
import { startDatabases } from './databases.ts';
import { bullmq, graphileWorker } from './peer-contenders.ts';
import { startRedis } from './redis.ts';

/** The queues that Patchboard on SQLite is compared with, and the servers they store in. */
export interface Queues {
  readonly contenders: readonly PeerContender[];
  stop(): Promise<void>;
}

/** Leaves out a queue whose server is not installed, and says so. `keepsResults`: see `graphileWorker`. */
export async function startQueues(
  folder: string,
  keepsResults: boolean,
  say: (line: string) => void,
): Promise<Queues> {
  const redis = await startRedis(folder);
  if (redis === null) say('no redis-server here, so BullMQ is left out; apt-get install redis-server');
  const databases = await startDatabases().catch((error: unknown) => {
    say(`graphile-worker is left out: ${String(error)}`);
    return null;
  });
  return {
    contenders: [
      ...(redis === null ? [] : [bullmq(redis)]),
      ...(databases === null ? [] : [graphileWorker(databases, keepsResults)]),
    ],
    stop: async () => {
      await redis?.stop();
      await databases?.stop();
    },
  };
}
