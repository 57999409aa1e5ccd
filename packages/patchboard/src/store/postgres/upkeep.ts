import { messageOf } from '../../core/failures.ts';
import type { Log } from '../../core/ports.ts';
import type { Connection } from '../../postgres/connection.ts';
import { ensurePartitions } from './partitions.ts';
import type { Tables } from './schema.ts';

export interface UpkeepParts {
  readonly connection: Connection;
  readonly schema: string;
  readonly tables: Tables;
  readonly now: () => number;
  readonly firstIdAt: (ms: number) => string;
  readonly log: Log | undefined;
  readonly sequence: () => Promise<unknown>;
}

const SEQUENCE_EVERY_MS = 1000;
const PARTITIONS_EVERY_MS = 86_400_000;

/** Makes the partitions of this month and the next, now and every day, and sequences every second. */
export async function keepUp(parts: UpkeepParts): Promise<() => Promise<void>> {
  await makePartitions(parts);
  let running = Promise.resolve();
  const repeat = (everyMs: number, event: string, work: () => Promise<unknown>): (() => void) => {
    let isRunning = false;
    const timer = setInterval(() => {
      if (isRunning) return;
      isRunning = true;
      const done = work()
        .catch((error: unknown) => parts.log?.warn(event, { error: messageOf(error) }))
        .finally(() => (isRunning = false));
      running = running.then(async () => void (await done));
    }, everyMs).unref();
    return () => clearInterval(timer);
  };
  const stops = [
    repeat(SEQUENCE_EVERY_MS, 'store.sequencing_failed', parts.sequence),
    repeat(PARTITIONS_EVERY_MS, 'store.partitions_failed', () => makePartitions(parts)),
  ];
  return async () => {
    for (const stop of stops) stop();
    await running;
  };
}

async function makePartitions(parts: UpkeepParts): Promise<void> {
  const problem = await ensurePartitions({ ...parts, now: parts.now() });
  if (problem !== null) parts.log?.warn('store.partitions_failed', { error: problem });
}
