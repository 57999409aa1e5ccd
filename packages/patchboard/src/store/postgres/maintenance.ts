import { messageOf } from '../../core/failures.ts';
import type { Log } from '../../core/ports.ts';
import type { Connection } from '../../postgres/connection.ts';
import { ensurePartitions } from './partitions.ts';
import type { Tables } from './schema.ts';

export interface MaintenanceParts {
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
export async function startMaintenance(parts: MaintenanceParts): Promise<() => Promise<void>> {
  const { log, sequence } = parts;
  await makePartitions(parts);
  const stops = [
    repeat(SEQUENCE_EVERY_MS, sequence, (error) => log?.warn('store.sequencing_failed', { error })),
    repeat(
      PARTITIONS_EVERY_MS,
      () => makePartitions(parts),
      (error) => log?.warn('store.partitions_failed', { error }),
    ),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

/**
 * Repeats the work, unless it still runs. Calls `failed` with the first of consecutive errors. The returned function
 * resolves when the work no longer runs.
 */
function repeat(
  everyMs: number,
  work: () => Promise<unknown>,
  failed: (error: string) => void,
): () => Promise<void> {
  let running: Promise<void> | null = null;
  let hasFailed = false;
  const run = async (): Promise<void> => {
    try {
      await work();
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) failed(messageOf(error));
      hasFailed = true;
    }
    running = null;
  };
  const timer = setInterval(() => {
    running ??= run();
  }, everyMs).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

async function makePartitions(parts: MaintenanceParts): Promise<void> {
  const problem = await ensurePartitions({ ...parts, now: parts.now() });
  if (problem !== null) parts.log?.warn('store.partitions_failed', { error: problem });
}
