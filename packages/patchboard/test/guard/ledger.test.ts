import { createHash } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerCheckpoint } from '../../src/core/ledger/checkpoint.ts';
import { verifyLedger, type LedgerVerdict } from '../../src/core/ledger/ledger-check.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { readOnlyStore } from '../../src/store/sqlite/read-only.ts';
import { aDataFolder, aPlatform, type DataFolder } from './support/a-platform.ts';
import { deleteTool, echoTool } from './support/scene.ts';

let folder: DataFolder;
/** The rows as they were written. */
let rows: Record<string, SQLInputValue>[];
let head: { seq: number; hash: string };
let exported: string;

beforeAll(async () => {
  folder = aDataFolder();
  const server = await aPlatform({ folder, tools: [echoTool, deleteTool] });
  for (const tool of ['toy.echo', 'toy.delete', 'no.such.tool']) {
    await server.ask({
      method: 'POST',
      path: `/v1/tools/${tool}/invoke`,
      headers: tool === 'toy.echo' ? { prefer: 'wait=10', 'x-trace-id': 'trace-1' } : {},
      body: { run_id: 'run_1', args: {} },
    });
  }
  await server.asOperator('PUT', '/v1/policy', { document: {} });
  exported = (await server.asOperator('GET', '/v1/ledger/export')).text;
  head = await server.store.ledgerHead();
  await server.close();
  copyFileSync(folder.storeFile, `${folder.storeFile}.kept`);
  const database = new DatabaseSync(folder.storeFile, { readOnly: true });
  rows = database.prepare('select * from ledger order by seq').all() as typeof rows;
  database.close();
  expect(rows.length).toBeGreaterThan(6);
});
afterAll(() => {
  folder.remove();
});

/** What a person with the file can do: the triggers go first. */
function asAttacker(change: (database: DatabaseSync) => void): void {
  copyFileSync(`${folder.storeFile}.kept`, folder.storeFile);
  const database = new DatabaseSync(folder.storeFile);
  database.exec('drop trigger ledger_keeps_rows; drop trigger ledger_loses_no_rows');
  change(database);
  database.close();
}

async function verdict(from: LedgerCheckpoint | null = null): Promise<LedgerVerdict> {
  const store = readOnlyStore(folder.storeFile, nodeDigest);
  try {
    return await verifyLedger(store, nodeDigest, from);
  } finally {
    store.close();
  }
}

async function expectDetected(seq?: number): Promise<void> {
  const found = await verdict();
  expect(found.ok).toBe(false);
  if (seq !== undefined) expect(found).toMatchObject({ seq });
  await expect(aPlatform({ folder })).rejects.toThrow(/damaged/);
}

/** Another value of the same kind: one character, or one millisecond. */
function flipped(value: SQLInputValue): SQLInputValue {
  if (value === null) return '';
  if (typeof value === 'number') return value + 1;
  if (typeof value !== 'string') throw new Error('the ledger holds texts and numbers');
  const at = Math.floor(value.length / 2);
  return value.slice(0, at) + (value[at] === '0' ? '1' : '0') + value.slice(at + 1);
}

describe('the ledger', () => {
  it('verifies as it was written, and after a restart', async () => {
    const checkpoint = `${head.seq}:${head.hash}`;
    expect(await verdict()).toMatchObject({ ok: true, rows: head.seq, head });
    const server = await aPlatform({ folder });
    const response = await server.asOperator('GET', '/v1/ledger/verify');
    expect(response.json).toEqual({ ok: true, rows: head.seq, head, checkpoint, seq: null, problem: null });
    const next = await server.asOperator('GET', `/v1/ledger/verify?from=${checkpoint}`);
    expect(next.json).toMatchObject({ ok: true, rows: 0, head, checkpoint });
    const refused = await server.asOperator('GET', '/v1/ledger/verify?from=12');
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('a checkpoint <seq>:<hash>');
    await server.close();
  });

  it.each([
    'update ledger set body = body',
    'delete from ledger',
    "update ledger set tenant = 'x' where seq = 1",
  ])('refuses "%s" in the database itself', (sql) => {
    const database = new DatabaseSync(folder.storeFile);
    expect(() => database.exec(sql)).toThrow('the ledger is append-only');
    database.close();
  });

  it.each(['at', 'tenant', 'kind', 'call_id', 'trace_id', 'body', 'hash'])(
    'shows a change of %s in any row',
    async (column) => {
      for (const row of rows) {
        asAttacker((database) => {
          const value = flipped(row[column] ?? null);
          database.prepare(`update ledger set ${column} = ? where seq = ?`).run(value, row['seq']!);
        });
        expect(await verdict()).toMatchObject({ ok: false, seq: row['seq'] });
      }
      await expectDetected(head.seq);
    },
  );

  it.each(['at', 'tenant', 'kind', 'call_id', 'trace_id', 'body', 'hash'])(
    'shows a change of %s from a checkpoint, in its row and in any later one, not in those before',
    async (column) => {
      const from = { seq: 4, hash: rows[3]!['hash'] as string, writers: null };
      for (const row of rows) {
        asAttacker((database) => {
          const value = flipped(row[column] ?? null);
          database.prepare(`update ledger set ${column} = ? where seq = ?`).run(value, row['seq']!);
        });
        const seq = Number(row['seq']);
        // The row before the checkpoint is read for its hash.
        if (seq === 3 && column === 'hash') expect(await verdict(from)).toMatchObject({ ok: false, seq: 4 });
        else if (seq < 4) expect(await verdict(from)).toMatchObject({ ok: true, rows: head.seq - 4 });
        else expect(await verdict(from)).toMatchObject({ ok: false, seq });
      }
    },
  );

  it('shows from a checkpoint that its row, the one before it or a later one was deleted', async () => {
    const from = { seq: 4, hash: rows[3]!['hash'] as string, writers: null };
    for (const [deleted, seq] of [
      [3, 4],
      [4, 4],
      [5, 5],
    ] as const) {
      asAttacker((database) => database.prepare('delete from ledger where seq = ?').run(deleted));
      expect(await verdict(from)).toMatchObject({ ok: false, seq });
    }
  });

  it('shows that a row was deleted, wherever it stood', async () => {
    for (const { seq } of rows.slice(0, -1)) {
      asAttacker((database) => database.prepare('delete from ledger where seq = ?').run(seq!));
      expect(await verdict()).toMatchObject({ ok: false, seq });
    }
    await expectDetected(head.seq - 1);
  });

  it('shows that a row was deleted and the others moved up', async () => {
    asAttacker((database) => {
      database.exec('delete from ledger where seq = 3; update ledger set seq = seq - 1 where seq > 3');
    });
    await expectDetected(3);
  });

  it('shows that rows changed places, with their hashes or without', async () => {
    asAttacker((database) => {
      database.exec(`update ledger set seq = -seq where seq in (3, 4);
        update ledger set seq = 7 + seq where seq < 0`);
    });
    await expectDetected(3);
    asAttacker((database) => {
      const swap = database.prepare('update ledger set body = ?, kind = ?, call_id = ? where seq = ?');
      for (const [to, from] of [
        [3, 4],
        [4, 3],
      ]) {
        const row = rows[from! - 1]!;
        swap.run(row['body']!, row['kind']!, row['call_id']!, to!);
      }
    });
    await expectDetected(3);
  });

  it.each([1, 3])('shows that its last %i rows were cut off', async (count) => {
    asAttacker((database) => database.prepare('delete from ledger where seq > ?').run(head.seq - count));
    await expectDetected(head.seq - count + 1);
  });

  it('shows that it was emptied', async () => {
    asAttacker((database) => database.exec('delete from ledger'));
    await expectDetected(1);
  });

  it('shows a row that was put in, with a hash of its own', async () => {
    asAttacker((database) => {
      database.exec(
        'update ledger set seq = -seq where seq > 2; update ledger set seq = 1 - seq where seq < 0',
      );
      database
        .prepare(
          'insert into ledger select 3, at, tenant, kind, call_id, trace_id, body, hash from ledger where seq = 2',
        )
        .run();
    });
    await expectDetected(3);
  });

  it('detects a row after its end', async () => {
    asAttacker((database) => {
      database
        .prepare(
          'insert into ledger select seq + 1, at, tenant, kind, call_id, trace_id, body, hash from ledger where seq = ?',
        )
        .run(head.seq);
    });
    await expect(aPlatform({ folder })).rejects.toThrow(/damaged/);
  });

  it('shows that its head was moved', async () => {
    asAttacker((database) => database.exec('update ledger_head set seq = seq - 1'));
    await expectDetected();
    asAttacker((database) => database.exec(`update ledger_head set hash = '${'f'.repeat(64)}'`));
    await expectDetected();
  });

  it.each(['result', 'args'])(
    'shows a change of %s in a stored call, offline and over HTTP',
    async (column) => {
      asAttacker((database) => {
        const call = database.prepare('select id, args, result from calls where state = 4').get();
        const value = String(call?.[column]).replace('{', '{ ');
        database.prepare(`update calls set ${column} = ? where id = ?`).run(value, call!['id']!);
      });
      const found = await verdict();
      const what = column === 'result' ? 'result' : 'arguments';
      expect(found).toMatchObject({
        ok: false,
        problem: expect.stringContaining(`the stored ${what} of tc_`),
      });
      const server = await aPlatform({ folder });
      const response = await server.asOperator('GET', '/v1/ledger/verify');
      expect(response.json).toMatchObject({ ...found, head: null });
      await server.close();
    },
  );

  it('says over HTTP where an old row was changed, though the server starts', async () => {
    // The start looks at the end of the chain only; the damage lies further back.
    copyFileSync(`${folder.storeFile}.kept`, folder.storeFile);
    const before = await aPlatform({ folder });
    await Promise.all(
      Array.from({ length: 300 }, () =>
        before.ask({ method: 'POST', path: '/v1/tools/none/invoke', body: { run_id: 'r' } }),
      ),
    );
    await before.close();
    const database = new DatabaseSync(folder.storeFile);
    database.exec("drop trigger ledger_keeps_rows; update ledger set tenant = 'else' where seq = 2");
    database.close();
    const server = await aPlatform({ folder });
    const response = await server.asOperator('GET', '/v1/ledger/verify');
    expect(response.json).toEqual({
      ok: false,
      rows: 1,
      head: null,
      checkpoint: null,
      seq: 2,
      problem: 'the row was changed',
    });
    await server.close();
  });
});

/** Knows nothing of our code: only how a row is hashed, and that each hash goes into the next. */
function checkExport(text: string): { rows: number; hashes: Map<number, string>; head: typeof head } {
  const lines = text.trimEnd().split('\n');
  const last = JSON.parse(lines.pop()!) as { head: typeof head };
  const hashes = new Map<number, string>();
  let previous = '0'.repeat(64);
  for (const line of lines) {
    const row = JSON.parse(line) as Record<string, string | number | null>;
    const body = /"body":(.*),"hash":"[0-9a-f]{64}"\}$/.exec(line)![1];
    const { seq, at, tenant_id: tenant, kind, tool_call_id: call, trace_id: trace, hash } = row;
    const parts = [previous, seq, Date.parse(String(at)), JSON.stringify(tenant), kind];
    const content = [...parts, JSON.stringify(call), JSON.stringify(trace), body].join('\n');
    const expected = createHash('sha256').update(content).digest('hex');
    if (seq !== hashes.size + 1 || hash !== expected) throw new Error(`row ${seq} does not fit`);
    hashes.set(seq, (previous = expected));
  }
  if (last.head.seq !== hashes.size || last.head.hash !== previous) throw new Error('the head does not fit');
  return { rows: hashes.size, hashes, head: last.head };
}

describe('an export', () => {
  it('ends with the head, and a checker that knows only the rule verifies it', () => {
    expect(checkExport(exported)).toMatchObject({ rows: head.seq, head });
  });

  it.each([
    ['a changed row', (text: string) => text.replace('"run_1"', '"run_2"')],
    ['a row less', (text: string) => text.split('\n').toSpliced(2, 1).join('\n')],
    ['the last row missing', (text: string) => text.split('\n').toSpliced(-3, 1).join('\n')],
  ])('with %s does not verify', (_what, change) => {
    expect(() => checkExport(change(exported))).toThrow(/does not fit/);
  });

  it('detects what the file alone cannot: that its end was cut off and its head rewritten', async () => {
    const cut = head.seq - 2;
    asAttacker((database) => {
      database.prepare('delete from ledger where seq > ?').run(cut);
      const { hash } = rows[cut - 1]!;
      database.prepare('update ledger_head set seq = ?, hash = ?').run(cut, hash!);
    });
    const found = await verdict();
    expect(found.ok).toBe(true);
    const kept = checkExport(exported).head;
    expect(found.ok && found.head.seq >= kept.seq).toBe(false);
  });
});
