// The thread of `IndexThread`.
import { parentPort, workerData } from 'node:worker_threads';
import type { Clock, Log } from '../../../core/ports.ts';
import { CallIndexer } from '../../../core/search/call-indexer.ts';
import { connectionOptions } from '../../../postgres/connection-options.ts';
import { Connection } from '../../../postgres/connection.ts';
import { tablesIn } from '../schema.ts';
import { StoreTime } from '../store-time.ts';
import { LEASE_MS, PostgresIndexWriter } from './index-writer.ts';
import { PostgresIndexSource } from './ledger-source.ts';

export interface IndexSettings {
  readonly url: string;
  readonly schema: string;
  readonly prepare: boolean;
  /** Identifies the node among those that write the index. */
  readonly holder: string;
  /** How long ended calls are kept; null: for ever. */
  readonly keepCallsMs: number | null;
}

/** `hurry`: a request waits for the index. */
export type IndexMessage = 'hurry' | 'close';

/** A line for the log of the node. */
export interface IndexLogLine {
  readonly level: keyof Log;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** How often an index that has all rows looks for others. A search waits about half a second for them. */
const LOOK_EVERY_MS = 200;
const CONNECT_MS = 10_000;
/** The reads and writes of the index find rows by keys and ranges; the planner knows little of new tables. */
const WITHOUT_SCANS = { enable_seqscan: 'off' };

const port = parentPort;
if (port === null) throw new Error('index-worker runs in a thread');
const { url, schema, prepare, holder, keepCallsMs } = workerData as IndexSettings;

const connection = new Connection({
  options: connectionOptions(url),
  name: 'index',
  prepare,
  settings: WITHOUT_SCANS,
  target: 'read-write',
});

function logTo(level: keyof Log): Log['info'] {
  return (event, fields = {}) => {
    const line: IndexLogLine = { level, event, fields };
    port?.postMessage(line);
  };
}

/** Lets the index make pauses while rows are committed; `source` sees that between two reads. */
let head = 0;
let committed: () => void = () => {};

let renewedAt = 0;

/** Keeps the lease while there is nothing to write, so that it does not pass from node to node. */
async function renewLease(writer: PostgresIndexWriter): Promise<void> {
  if (performance.now() - renewedAt < LEASE_MS / 3) return;
  renewedAt = performance.now();
  await writer.acquireLease();
}

async function start(): Promise<CallIndexer> {
  await connection.open(CONNECT_MS);
  const time = await StoreTime.read(connection);
  const tables = tablesIn(schema);
  const source = new PostgresIndexSource(connection, tables);
  const writer = new PostgresIndexWriter({ connection, schema, tables, holder, now: () => time.now() });
  const clock: Clock = {
    now: () => time.now(),
    elapsed: () => performance.now(),
    after: (ms, action) => {
      const timer = setTimeout(action, ms);
      return () => clearTimeout(timer);
    },
    turn: () => new Promise((resolve) => void setImmediate(resolve)),
  };
  const indexer = new CallIndexer({
    source: {
      head: () => source.head(),
      hashAt: (seq) => source.hashAt(seq),
      read: async (after) => {
        const newest = await source.head();
        if (newest > head) committed();
        head = newest;
        const batch = await source.read(after);
        if (batch === null) await renewLease(writer);
        return batch;
      },
    },
    writer,
    clock,
    log: { info: logTo('info'), warn: logTo('warn'), error: logTo('error') },
    onCommitted: (listener) => {
      committed = listener;
      const timer = setInterval(listener, LOOK_EVERY_MS);
      return () => clearInterval(timer);
    },
    keepCallsMs,
  });
  indexer.start();
  return indexer;
}

/** A rejection ends the thread, and `IndexThread` starts another one later. */
const started = start();
started.catch((error: unknown) => {
  // Thrown outside of the promise: a request that awaits it would count as the handler of the rejection.
  setImmediate(() => {
    throw error;
  });
});

async function stop(): Promise<void> {
  const indexer = await started;
  await indexer.stop();
  await connection.close();
}

async function hurry(): Promise<void> {
  const indexer = await started;
  // Rows may have been committed since the last look; the next message ends the pause that gathers more of them.
  committed();
  indexer.hurry();
}

port.on('message', (message: IndexMessage) => {
  if (message === 'hurry') {
    hurry().catch(() => {}); // It was never started.
    return;
  }
  stop().then(
    () => port.close(),
    () => port.close(), // It was never started, or its connection is broken.
  );
});
