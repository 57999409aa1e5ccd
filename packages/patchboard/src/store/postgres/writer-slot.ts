import { setTimeout as pause } from 'node:timers/promises';
import { GENESIS } from '../../core/ledger/ledger.ts';
import { lockWriters } from '../../postgres/advisory-locks.ts';
import type { Connection, Queryable, Statement, Transaction } from '../../postgres/connection.ts';
import { StoreInUse } from '../store-refused.ts';
import type { Tables } from './schema.ts';

/** The last segment of a writer: what the next one must follow. */
export interface SegmentHead {
  readonly no: number;
  readonly epoch: number;
  readonly period: number;
  /** The number of the writer's last ledger row. */
  readonly last: number;
  /** The hash of that row, hexadecimal. */
  readonly hash: string;
}

/** A segment as it is stored. */
export interface StoredSegment extends SegmentHead {
  readonly ended: string | null;
}

/** The right to write, held by one process at a time. `epoch` grows with each holder. */
export interface HeldWriter {
  readonly writer: number;
  readonly epoch: number;
  readonly head: SegmentHead;
}

export interface WriterSlotParts {
  readonly connection: Connection;
  readonly schema: string;
  readonly tables: Tables;
  readonly shown: string;
  /** Host and process that take the writer: shown to the operator of another server that finds it held. */
  readonly holder: string;
  /** Whether other nodes with the same value may hold writers too. */
  readonly isShared: boolean;
}

interface WriterRow {
  readonly writer: number;
  readonly epoch: number;
  readonly beat: number;
  readonly holder: string | null;
}

/** A holder whose heartbeat stands still for this long is taken for dead. */
const LEASE_MS = 3000;
const LOOK_EVERY_MS = 250;

/**
 * Takes a writer of this store. If a process with which this one does not share the store holds one, watches its heartbeat:
 * rejects with `StoreInUse` if it beats; otherwise fences that process first, so that nothing it wrote later can commit.
 */
export async function takeWriter(parts: WriterSlotParts): Promise<HeldWriter> {
  for (;;) {
    const taken = await parts.connection.transaction((transaction) => take(transaction, parts));
    if ('head' in taken) return taken;
    if (await isAlive(taken, parts))
      throw new StoreInUse(
        parts.shown,
        `is in use by another server (${taken.holder ?? 'unknown'})`,
        'stop that server first, or use another database or schema',
      );
    await parts.connection.transaction((transaction) => fence(transaction, taken, parts));
  }
}

/** Returns the last segment of a writer. */
export async function segmentHead(
  queryable: Queryable,
  { segments }: Tables,
  writer: number,
): Promise<StoredSegment> {
  const text = `select no, epoch, period, last, encode(hash, 'hex') as hash, ended from ${segments}
    where writer = $1 order by no desc limit 1`;
  const { rows } = await queryable.query<StoredSegment>({ name: 'segment_head', text }, [writer]);
  return rows[0] ?? { no: -1, epoch: 0, period: 0, last: 0, hash: GENESIS, ended: null };
}

/** Frees the writer `$1` if it has the epoch `$2`. */
export function freeWriterStatement({ writers }: Tables): Statement {
  const text = `update ${writers} set state = 'free', holder = null where writer = $1 and epoch = $2`;
  return { name: 'free_writer', text };
}

export async function freeWriter(
  connection: Connection,
  tables: Tables,
  { writer, epoch }: HeldWriter,
): Promise<void> {
  await connection.query(freeWriterStatement(tables), [writer, epoch]);
}

/** Returns the holder that must be looked at first, if there is one. */
async function take(
  transaction: Transaction,
  { schema, tables, holder, isShared }: WriterSlotParts,
): Promise<HeldWriter | WriterRow> {
  await lockWriters(transaction, schema);
  const { writers } = tables;
  const held = await transaction.query<WriterRow>(
    {
      name: 'held_writer',
      text: `select writer, epoch, beat, holder from ${writers}
        where state <> 'free' and not ($1::boolean and is_shared) order by writer limit 1`,
    },
    [isShared],
  );
  if (held.rows[0] !== undefined) return held.rows[0];
  const free = await transaction.query<{ writer: number }>({
    name: 'free_writers',
    text: `select writer from ${writers} where state = 'free' order by writer limit 1`,
  });
  const writer = free.rows[0]?.writer ?? (await addWriter(transaction, tables));
  const { rows } = await transaction.query<{ epoch: number }>(
    {
      name: 'take_writer',
      text: `update ${writers} set state = 'held', holder = $2, epoch = epoch + 1, beat = beat + 1,
          is_shared = $3, took_over = null,
          started_at = extract(epoch from clock_timestamp()) * 1000
        where writer = $1 returning epoch`,
    },
    [writer, holder, isShared],
  );
  await takeUnheldCalls(transaction, tables, { writer, isShared });
  return { writer, epoch: rows[0]?.epoch ?? 0, head: await segmentHead(transaction, tables, writer) };
}

/** The open calls of former holders are recovered by this one. A node that is not alone finds them by their mark. */
async function takeUnheldCalls(
  transaction: Transaction,
  { writers, open_calls: open }: Tables,
  { writer, isShared }: { readonly writer: number; readonly isShared: boolean },
): Promise<void> {
  const text = `update ${open} set owner = $1, moved_by = null
    where owner not in (select writer from ${writers} where state <> 'free')
      or ($2::boolean and owner = $1 and moved_by is not null)`;
  await transaction.query({ name: 'take_calls', text }, [writer, isShared]);
}

/** A new writer has the segment 0, so that every later one has a predecessor. */
async function addWriter(transaction: Transaction, { writers, segments }: Tables): Promise<number> {
  const { rows } = await transaction.query<{ writer: number }>({
    name: 'add_writer',
    text: `insert into ${writers} (writer, state, epoch, beat, sequenced_no)
      select coalesce(max(writer), 0) + 1, 'free', 0, 0, 0 from ${writers} returning writer`,
  });
  const writer = rows[0]?.writer ?? 0;
  await transaction.query(
    {
      name: 'first_segment',
      text: `insert into ${segments} (writer, no, epoch, period, first, last, hash)
        values ($1, 0, 0, 0, 1, 0, decode($2, 'hex'))`,
    },
    [writer, GENESIS],
  );
  return writer;
}

/** Watches the heartbeat with this process's monotonic clock: wall clocks of two machines may differ. */
async function isAlive(
  { writer, epoch, beat }: WriterRow,
  { connection, tables }: WriterSlotParts,
): Promise<boolean> {
  const text = `select 1 as found from ${tables.writers}
    where writer = $1 and epoch = $2 and beat = $3 and state <> 'free'`;
  for (let since = performance.now(); performance.now() - since < LEASE_MS;) {
    await pause(LOOK_EVERY_MS);
    const sentAt = performance.now();
    const { rows } = await connection.query({ name: 'look_at_writer', text }, [writer, epoch, beat]);
    if (rows.length === 0) return !(await isFree(connection, tables, writer));
    // While the database cannot be reached, the holder cannot write its heartbeat either.
    if (performance.now() - sentAt > LOOK_EVERY_MS) since = performance.now();
  }
  return false;
}

async function isFree(connection: Connection, { writers }: Tables, writer: number): Promise<boolean> {
  const text = `select 1 as found from ${writers} where writer = $1 and state = 'free'`;
  return (await connection.query({ name: 'is_free', text }, [writer])).rows.length > 0;
}

/** Fences a dead holder. Does nothing if the heartbeat went on meanwhile. */
async function fence(
  transaction: Transaction,
  { writer, epoch, beat }: WriterRow,
  { schema, tables }: WriterSlotParts,
): Promise<void> {
  await lockWriters(transaction, schema);
  const freed = await transaction.query(
    {
      name: 'end_holder',
      text: `update ${tables.writers} set state = 'free', holder = null, epoch = epoch + 1
        where writer = $1 and epoch = $2 and beat = $3 and state <> 'free'`,
    },
    [writer, epoch, beat],
  );
  if (freed.count > 0) await insertFence(transaction, tables, { writer, epoch: epoch + 1 });
}

/**
 * Inserts the next segment of a dead holder, without rows: its own next segment has the same key, so its next batch fails
 * as a whole.
 */
export async function insertFence(
  transaction: Transaction,
  { segments }: Tables,
  { writer, epoch }: { readonly writer: number; readonly epoch: number },
): Promise<void> {
  await transaction.query(
    {
      name: 'fence',
      text: `insert into ${segments} (writer, no, epoch, period, first, last, hash)
        select writer, no + 1, $2, period, last + 1, last, hash from ${segments}
        where writer = $1 order by no desc limit 1`,
    },
    [writer, epoch],
  );
}
