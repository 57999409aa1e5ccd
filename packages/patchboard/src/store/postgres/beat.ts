import type { NodeReport, NodeRow } from '../../cluster/node-table.ts';
import { textArray } from '../../postgres/arrays.ts';
import type { Queryable, Statement } from '../../postgres/connection.ts';
import type { Tables } from './schema.ts';
import { fenced, restored, type WriterLost } from './writer-lost.ts';
import type { HeldWriter } from './writer-slot.ts';

/** A row of `writers`, with the clock of the database. `no`: see `beatStatement`. */
export interface WriterRow extends Omit<NodeRow, 'startedAt' | 'tookOver'> {
  readonly started_at: number | null;
  readonly took_over: string | null;
  readonly no: number | null;
  readonly now: number;
}

/** What `writers.took_over` contains as JSON. */
export type TookOver = NonNullable<NodeRow['tookOver']> & { readonly epoch: number };

/**
 * Adds one to the heartbeat and reads all writers, in one round trip. `no` is the last segment of this writer; null if this
 * process does not hold it any more.
 */
export function beatStatement({ writers, segments }: Tables): Statement {
  return {
    name: 'beat_and_look',
    text: `with beaten as (
        update ${writers} set beat = beat + 1, state = $3, url = $4, version = $5, fingerprint = $6, room = $7,
          calls = $8, revision = $9, follows = $10::text[]
        where writer = $1 and epoch = $2 and state <> 'free'
        returning (select max(no) from ${segments} where writer = $1) as no)
      select w.writer, w.epoch, w.beat, w.state, w.holder, w.url, w.version, w.fingerprint, w.room, w.calls,
        w.revision, w.follows, w.started_at, w.took_over, beaten.no,
        extract(epoch from clock_timestamp())::float8 * 1000 as now
      from ${writers} w left join beaten on true order by w.writer`,
  };
}

/** The parameters of `beatStatement`. */
export function beatValues({ writer, epoch }: HeldWriter, report: NodeReport): unknown[] {
  const { state, url, version, fingerprint, room, calls, revision, follows } = report;
  return [writer, epoch, state, url, version, fingerprint, room, calls, revision, textArray(follows)];
}

/**
 * Returns why this process must not write any more, or null. `expected`: the last segment that it had committed when the
 * heartbeat was sent; `found`: the last one in the database, null if the writer has another holder.
 */
export async function lossOf(
  queryable: Queryable,
  { writers }: Tables,
  held: HeldWriter,
  expected: number,
  found: number | null,
): Promise<WriterLost | null> {
  if (found !== null) return found < expected ? restored('batch', expected, found) : null;
  const text = `select epoch from ${writers} where writer = $1`;
  const { rows } = await queryable.query<{ epoch: number }>({ name: 'epoch', text }, [held.writer]);
  // The writer as it was before this process took it.
  return (rows[0]?.epoch ?? 0) < held.epoch ? restored('batch', expected, 0) : fenced();
}

export function nodeRowOf(row: WriterRow): NodeRow {
  const { writer, epoch, beat, state, holder, url, version, fingerprint, room, calls, revision, follows } =
    row;
  const tookOver = row.took_over === null ? null : (JSON.parse(row.took_over) as TookOver);
  return {
    writer,
    epoch,
    beat,
    state,
    holder,
    url,
    version,
    fingerprint,
    room,
    calls,
    revision,
    follows,
    startedAt: row.started_at,
    tookOver: tookOver === null ? null : { from: tookOver.from, at: tookOver.at, calls: tookOver.calls },
  };
}
