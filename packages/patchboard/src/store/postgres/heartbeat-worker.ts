// The thread of `HeartbeatThread`.
import { parentPort, workerData } from 'node:worker_threads';
import type { NodeReport } from '../../cluster/node-table.ts';
import { messageOf } from '../../core/failures.ts';
import { connectionOptions } from '../../postgres/connection-options.ts';
import { Connection } from '../../postgres/connection.ts';
import { beatStatement, beatValues, type WriterRow } from './beat.ts';
import { tablesIn } from './schema.ts';
import { UnattendedBeats } from './unattended-beats.ts';
import type { HeldWriter } from './writer-slot.ts';

export interface HeartbeatSettings {
  readonly url: string;
  readonly schema: string;
  readonly prepare: boolean;
}

export interface BeatRequest {
  readonly number: number;
  readonly held: HeldWriter;
  readonly report: NodeReport;
}

export type BeatReply =
  | { readonly number: number; readonly rows: readonly WriterRow[] }
  | { readonly number: number; readonly problem: string };

/** Another connection must be found before the lease ends. */
const TIMEOUT = { statement_timeout: '1s', lock_timeout: '1s' };
const REPLY_MS = 1200;

const port = parentPort;
if (port === null) throw new Error('heartbeat-worker runs in a thread');
const { url, schema, prepare } = workerData as HeartbeatSettings;
const connection = new Connection({
  options: connectionOptions(url),
  name: 'beats',
  prepare,
  settings: TIMEOUT,
  replyMs: REPLY_MS,
});
const statement = beatStatement(tablesIn(schema));
let last: Omit<BeatRequest, 'number'> | null = null;

async function beat({ held, report }: Omit<BeatRequest, 'number'>): Promise<readonly WriterRow[]> {
  return (await connection.query<WriterRow>(statement, beatValues(held, report))).rows;
}

async function reply({ number, ...request }: BeatRequest): Promise<BeatReply> {
  try {
    return { number, rows: await beat(request) };
  } catch (error) {
    return { number, problem: messageOf(error) };
  }
}

const unattended = new UnattendedBeats(
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

port.on('message', (request: BeatRequest | 'close') => {
  if (request === 'close') {
    unattended.stop();
    port.close();
    connection.close().catch(() => {}); // It is broken already.
    return;
  }
  last = request;
  unattended.requested();
  reply(request).then(
    (sent) => port.postMessage(sent),
    () => {}, // `reply` does not reject.
  );
});
