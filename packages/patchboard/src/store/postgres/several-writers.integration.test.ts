import { describe, expect, it } from 'vitest';
import { POSTGRES_VERSIONS } from '../../../test/services/postgres-binaries.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { LedgerCheckpoint } from '../../core/ledger/checkpoint.ts';
import { verifyLedger, type LedgerVerdict } from '../../core/ledger/ledger-check.ts';
import type { CommittedRow } from '../../core/ports.ts';
import { aCall, anEntry, callId, completed, digest, failed } from '../samples.contract.ts';
import { aDatabase, type TestDatabase } from './a-database.contract.ts';
import { LedgerFeed } from './feed.ts';
import { Sequencer } from './sequencer.ts';
import type { SqlWriter } from './sql-writer.contract.ts';

const entryOf = (writer: SqlWriter, n: number): ReturnType<typeof anEntry> =>
  anEntry({ body: `{"writer":${writer.writer},"n":${n}}` });

async function verdictOn(
  { ledger, calls }: TestDatabase,
  from: LedgerCheckpoint | null = null,
): Promise<LedgerVerdict> {
  return await verifyLedger(
    {
      ledgerHead: () => ledger.head(),
      readLedger: ledger.read.bind(ledger),
      readLedgerOrder: ledger.order.bind(ledger),
      readWriterHeads: ledger.writerHeads.bind(ledger),
      findCall: (id) => calls.find(id),
    },
    digest,
    from,
  );
}

async function verified(database: TestDatabase): Promise<readonly CommittedRow[]> {
  const verdict = await verdictOn(database);
  const rows = await database.ledger.read({}, 0, 10_000);
  expect(verdict).toMatchObject({ ok: true, rows: rows.length });
  return rows;
}

describe.each(POSTGRES_VERSIONS)('several writers in PostgreSQL %i', (version) => {
  it('get one order without gaps, whichever process sequences, and each keeps its own', async () => {
    const database = await aDatabase(version);
    const { tables } = database;
    const writers = [await database.writer(1), await database.writer(2), await database.writer(7)];
    const others = [1, 2].map(
      (n) => new Sequencer({ connection: database.connect(`other ${n}`), tables, digest }),
    );
    let isWriting = true;
    const sequencing = others.map(async (sequencer) => {
      while (isWriting) await sequencer.sequence();
    });
    await Promise.all(
      writers.map(async (writer) => {
        for (let n = 0; n < 60; n += 1)
          await writer.write({ entries: [1, 2, 3].slice(n % 3).map(() => entryOf(writer, n)) });
      }),
    );
    isWriting = false;
    await Promise.all(sequencing);
    const rows = await verified(database);
    expect(rows).toHaveLength(writers.length * 120);
    for (const { writer } of writers) {
      const own = rows.flatMap(({ row }) => (row.place?.writer === writer ? [row.place.no] : []));
      expect(own).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
    }
    // The last segment of each writer stays: its next one is checked against it.
    expect(await database.rows(`select writer, no from ${tables.segments} order by writer`)).toEqual(
      writers.map(({ writer }) => ({ writer, no: 60 })),
    );
  });

  it('are ordered by cause: what was written after a commit of another one comes after it', async () => {
    const database = await aDatabase(version);
    const [first, second] = [await database.writer(1), await database.writer(2)];
    for (let n = 0; n < 20; n += 1) {
      await (n % 2 === 0 ? second : first).write({ entries: [anEntry({ at: n })] });
      if (n % 7 === 0) await database.sequencer.sequence();
    }
    expect((await verified(database)).map(({ row }) => row.at)).toEqual(
      Array.from({ length: 20 }, (_, n) => n),
    );
  });

  it('keep the order of their rows if the log positions begin anew, as after a restore elsewhere', async () => {
    const database = await aDatabase(version);
    const writer = await database.writer(1);
    for (let n = 0; n < 4; n += 1) await writer.write({ entries: [entryOf(writer, n)] });
    await database.rows(
      `update ${database.tables.segments} set lsn = '0/1' where writer = 1 and no > 2 returning no`,
    );
    expect((await verified(database)).map(({ row }) => row.place?.no)).toEqual([1, 2, 3, 4]);
  });

  it('are verified from a checkpoint, each from its last row before it', async () => {
    const database = await aDatabase(version);
    const { tables } = database;
    const [first, second, idle] = [
      await database.writer(1),
      await database.writer(2),
      await database.writer(7),
    ];
    await idle.write({ entries: [entryOf(idle, 0)], period: 202_509 });
    for (let n = 0; n < 6; n += 1) {
      await first.write({ entries: [entryOf(first, n), entryOf(first, n)] });
      await second.write({ entries: [entryOf(second, n)] });
    }
    const whole = await verdictOn(database);
    if (!whole.ok) throw new Error(whole.problem);
    const from = whole.checkpoint;
    expect(from.seq).toBe(19);
    expect(await database.ledger.writerHeads(18)).toMatchObject([
      { writer: 1, no: 12 },
      { writer: 2, no: 5 },
      { writer: 7, no: 1 },
    ]);
    expect(await database.ledger.writerHeads(2)).toMatchObject([
      { writer: 1, no: 1 },
      { writer: 7, no: 1 },
    ]);
    // The rows after the checkpoint are of a writer that was idle for long, of one that was not, and of a new one.
    const added = await database.writer(8);
    for (const writer of [idle, first, added]) await writer.write({ entries: [entryOf(writer, 9)] });
    expect(await verdictOn(database, from)).toMatchObject({ ok: true, rows: 3 });

    await database.rows(`alter table ${tables.ledger} disable trigger user`);
    const broken = async (where: string, seq: number, problem: string): Promise<void> => {
      const matching = `from ${tables.ledger} where ${where}`;
      const [row] = await database.rows<{ tenant: string }>(`select tenant ${matching}`);
      await database.rows(`update ${tables.ledger} set tenant = 'forged' where ${where} returning no`);
      expect(await verdictOn(database, from)).toMatchObject({ ok: false, seq, problem });
      await database.rows(
        `update ${tables.ledger} set tenant = '${row!.tenant}' where ${where} returning no`,
      );
    };
    await broken('writer = 7 and no = 2', 20, 'the row was changed');
    await broken('writer = 2 and no = 6', 19, 'the row was changed');
    await database.rows(
      `update ${tables.ledger} set hash = '\\x00' where writer = 7 and no = 1 returning no`,
    );
    expect(await verdictOn(database, from)).toMatchObject({
      ok: false,
      seq: 19,
      problem: expect.stringContaining('of the last rows of the writers') as string,
    });
  });

  it('are read by call and by trace in the order of the ledger, also a trace of many rows', async () => {
    const database = await aDatabase(version);
    const writers = [await database.writer(1), await database.writer(2)];
    const large = Array.from({ length: 2100 }, () => anEntry({ traceId: 'large' }));
    for (const [index, writer] of [...writers, ...writers].entries()) {
      const period = index < 2 ? 202_510 : 202_511;
      await writer.write({ entries: [anEntry({ at: index, callId: callId(1), traceId: 'small' })], period });
      await writer.write({ entries: large, period });
    }
    const { ledger } = database;
    for (const filter of [{ callId: callId(1) }, { traceId: 'small' }]) {
      expect((await ledger.read(filter, 0, 10)).map(({ row }) => row.at)).toEqual([0, 1, 2, 3]);
      expect((await ledger.read(filter, 2102, 10)).map(({ row }) => row.at)).toEqual([2, 3]);
    }
    const seqs = (await ledger.read({ traceId: 'large' }, 2000, 5000)).map(({ row }) => row.seq);
    expect(seqs).toHaveLength(5000);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    expect(seqs[0]).toBe(2001);
    const events = await database.events.read({ tenant: 'acme', callId: callId(1) }, 0, 10);
    expect(events.isEnd).toBe(true);
  });

  it('are counted together: the ended calls of all segments, once', async () => {
    const database = await aDatabase(version);
    const [first, second] = [await database.writer(1), await database.writer(2)];
    await first.write({ calls: [completed(aCall(1)), failed(aCall(2)), aCall(3)] });
    await second.write({ calls: [completed(aCall(4)), completed(aCall(5, { tenant: 'other' }))] });
    await Promise.all([1, 2, 3].map(() => database.sequencer.sequence()));
    await first.write({ calls: [completed(aCall(6))] });
    expect(await database.counts.countEnded('acme')).toEqual({ COMPLETED: 3, FAILED: 1 });
    expect(await database.counts.countByState()).toEqual({ PENDING: 1, COMPLETED: 4, FAILED: 1 });
  });

  it('are watched from the position of this process on, also rows of the others', async () => {
    const database = await aDatabase(version);
    const [own, other] = [await database.writer(1), await database.writer(2)];
    const { reader, tables, sequencer, ledger } = database;
    let resolved = 0;
    const position = (): { writer: number; no: number } => ({ writer: own.writer, no: resolved });
    const feed = new LedgerFeed({ reader, tables, sequencer, ledger, position });
    await own.write({ entries: [anEntry({ at: 1 })] });
    resolved = own.no;
    // Committed, but its promise has not resolved when the watch begins.
    await own.write({ entries: [anEntry({ at: 2 })] });
    const seen: number[] = [];
    const end = feed.watch(({ row }) => seen.push(row.at));
    const later: number[] = [];
    await waitFor(() => expect(seen).toEqual([2]));
    resolved = own.no;
    const endLater = feed.watch(({ row }) => later.push(row.at));
    await other.write({ entries: [anEntry({ at: 3 })] });
    // Nothing calls `committed` for another process: the poll finds its rows.
    await waitFor(() => expect([seen, later]).toEqual([[2, 3], [3]]));
    end();
    endLater();
    await feed.close();
  });
});
