// The thread of `HeartbeatThread`.
import { workerData } from 'node:worker_threads';
import type { NodeReport } from '../../cluster/node-table.ts';
import { connectionOptions } from '../../postgres/connection-options.ts';
import { Connection } from '../../postgres/connection.ts';
import { handleRequests } from '../request-worker.ts';
import { beatStatement, beatValues, type WriterRow } from './beat.ts';
import { tablesIn } from './schema.ts';
import { FallbackHeartbeats } from './fallback-heartbeats.ts';
import type { HeldWriter } from './writer-slot.ts';

export interface HeartbeatSettings {
  readonly url: string;
  readonly schema: string;
  readonly prepare: boolean;
}

export interface BeatRequest {
  readonly held: HeldWriter;
  readonly report: NodeReport;
}

/** Another connection must be found before the lease ends. */
const TIMEOUT = { statement_timeout: '1s', lock_timeout: '1s' };
const REPLY_MS = 1200;

const { url, schema, prepare } = workerData as HeartbeatSettings;
const connection = new Connection({
  options: connectionOptions(url),
  name: 'beats',
  prepare,
  settings: TIMEOUT,
  replyMs: REPLY_MS,
  target: 'read-write',
});
const statement = beatStatement(tablesIn(schema));
let last: BeatRequest | null = null;

async function beat({ held, report }: BeatRequest): Promise<readonly WriterRow[]> {
  return (await connection.query<WriterRow>(statement, beatValues(held, report))).rows;
}

const fallback = new FallbackHeartbeats(
  {
    elapsed: () => performance.now(),
    after: (ms, action) => {
      const timer = setTimeout(action, ms);
      return () => clearTimeout(timer);
    },
  },
  async () => {
    if (last === null) return;
    // A blocked node can run nothing more, so that others give it no calls.
    const report = { ...last.report, room: 0 };
    // The database cannot be reached; the next heartbeat of the event loop reports it.
    await beat({ held: last.held, report }).catch(() => {});
  },
);

handleRequests<BeatRequest>({
  handle: async (request) => {
    last = request;
    fallback.requested();
    return await beat(request);
  },
  close: () => {
    fallback.stop();
    connection.close().catch(() => {}); // It is broken already.
  },
});
