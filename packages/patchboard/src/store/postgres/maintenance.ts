import { messageOf } from '../../core/failures.ts';
import type { Log } from '../../core/ports.ts';
import type { Connection } from '../../postgres/connection.ts';
import type { DeviceTable } from './device-table.ts';
import { ensurePartitions } from './partitions.ts';
import type { Revisions } from './revisions.ts';
import type { Tables } from './schema.ts';
import type { TokenTable } from './token-table.ts';
import type { ToolTables } from './tool-tables.ts';

export interface MaintenanceParts {
  readonly connection: Connection;
  readonly schema: string;
  readonly tables: Tables;
  readonly now: () => number;
  readonly firstIdAt: (ms: number) => string;
  readonly log: Log | undefined;
  readonly sequence: () => Promise<unknown>;
  readonly revisions: Revisions;
  /** Null: no other node uses the store. */
  readonly shared: {
    readonly tools: ToolTables;
    readonly tokens: TokenTable;
    readonly devices: DeviceTable;
  } | null;
}

const SEQUENCE_EVERY_MS = 1000;
const DAY_MS = 86_400_000;
const CLEAN_EVERY_MS = 60_000;
const OFFERS_EVERY_MS = 1000;

/**
 * Makes the partitions of this month and the next, now and every day, sequences every second, and cleans every minute. In a
 * store that several nodes share, also removes what devices of nodes offered that are gone.
 */
export async function startMaintenance(parts: MaintenanceParts): Promise<() => Promise<void>> {
  const { log, sequence } = parts;
  await makePartitions(parts);
  const stops = [
    repeat(SEQUENCE_EVERY_MS, sequence, (error) => log?.warn('store.sequencing_failed', { error })),
    repeat(
      DAY_MS,
      () => makePartitions(parts),
      (error) => log?.warn('store.partitions_failed', { error }),
    ),
    repeat(
      CLEAN_EVERY_MS,
      () => clean(parts),
      (error) => log?.warn('store.cleaning_failed', { error }),
    ),
    repeat(
      OFFERS_EVERY_MS,
      () => removeGoneOffers(parts),
      (error) => log?.warn('store.cleaning_failed', { error }),
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

/** Every node has read the removals of more than a day ago: one that did not is gone. */
async function clean({ connection, revisions, shared }: MaintenanceParts): Promise<void> {
  await revisions.clean(connection, DAY_MS);
  await shared?.tokens.clean();
  await shared?.devices.clean();
}

async function removeGoneOffers({ connection, revisions, shared }: MaintenanceParts): Promise<void> {
  if (shared === null || !(await shared.tools.hasOffersOfGoneNodes(connection))) return;
  await connection.transaction(async (transaction) => {
    const revision = await revisions.next(transaction);
    await shared.tools.removeOffersOfGoneNodes(transaction, revision);
  });
}

async function makePartitions(parts: MaintenanceParts): Promise<void> {
  const problem = await ensurePartitions({ ...parts, now: parts.now() });
  if (problem !== null) parts.log?.warn('store.partitions_failed', { error: problem });
}
