import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aSchema, sharedPostgres } from '../../../test/services/shared-postgres.ts';
import type { Call } from '../../core/call/call.ts';
import type { DocumentKind } from '../../core/documents.ts';
import { verifyLedger } from '../../core/ledger/ledger-check.ts';
import type { Page, Store } from '../../core/ports.ts';
import { firstCallIdAt } from '../../runtime/ids.ts';
import {
  START,
  aCall,
  aRecord,
  aRun,
  aTool,
  anEntry,
  askingForInput,
  completed,
  digest,
  executing,
  failed,
  rowsOf,
  withoutCursors,
} from '../samples.contract.ts';
import { sqliteStore } from '../sqlite/sqlite-store.ts';
import { postgresStore } from './open.ts';

/** Names that quoting, escaping, collation or encoding could change. */
const NAMES = [
  'a',
  'B',
  'b',
  'ä',
  'Z',
  "o'brien",
  '"q"',
  '\\x',
  '$1',
  '%',
  '_',
  '{a,b}',
  'NULL',
  '',
  ' a',
  'é',
  'e\u0301',
  '😀',
  '\uFFFD',
  '\uE000',
  'a\nb',
];
const BODIES = [
  '{}',
  '{"a":"\\u0000"}',
  '{"a":"\\ud800"}',
  '{"b":1e400,"c":0.10}',
  '"😀\'\\\\"',
  `"${'x'.repeat(9000)}"`,
];
const KINDS: readonly DocumentKind[] = ['key', 'todo', 'tenant'];
const STATES = [undefined, ['COMPLETED'], ['FAILED', 'PENDING'], ['EXECUTING', 'INPUT_REQUIRED']] as const;

const name = fc.constantFrom(...NAMES);
const few = fc.constantFrom(...NAMES.slice(0, 5));
const body = fc.constantFrom(...BODIES);
const number = fc.nat({ max: 60 });
const OPERATIONS = 200;
const COMPARED_EVERY = 100;

const operation = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('insert' as const),
      n: number,
      tenant: few,
      run: name,
      agent: few,
      key: fc.option(few),
      args: body,
      expires: number,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('replace' as const),
      n: number,
      to: fc.nat({ max: 3 }),
      result: body,
      args: fc.option(body),
      version: fc.integer({ min: -1, max: 1 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      tenant: name,
      trace: fc.option(name),
      body,
      count: fc.nat({ max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('run' as const),
      tenant: few,
      run: name,
      agent: few,
      cancel: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('document' as const),
      kind: fc.constantFrom(...KINDS),
      id: name,
      body: fc.option(body),
      add: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('tools' as const),
      tenant: few,
      name,
      client: few,
      remove: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('journal' as const),
      journal: name,
      after: fc.nat({ max: 3 }),
      kinds: fc.array(few, { maxLength: 3 }),
      body,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('purge' as const),
      n: fc.nat({ max: 20 }),
      limit: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('list' as const),
      tenant: few,
      run: fc.option(name),
      agent: fc.option(few),
      states: fc.constantFrom(...STATES),
      limit: fc.integer({ min: 1, max: 4 }),
      since: number,
    }),
  },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** The calls as the caller last saw them: the same for both stores as long as they agree. */
type Known = Map<string, Call>;

/** Ids of a partition by month, and after it, as those of a server. */
function numbered(n: number, given: Partial<Call>): Call {
  const createdAt = START + n * 1000;
  return aCall(n, { id: firstCallIdAt(createdAt), createdAt, ...given });
}

function moved(call: Call, to: number, resultJson: string): Call {
  if (to === 0) return executing(call);
  if (to === 1) return askingForInput(call);
  return to === 2 ? completed(call, call.createdAt + 2, resultJson) : failed(call);
}

async function apply(store: Store, given: Operation, known: Known): Promise<unknown> {
  switch (given.do) {
    case 'insert': {
      const { n, tenant, run: runId, agent: agentId, key, args: argsJson } = given;
      const call = numbered(n, { tenant, runId, agentId, argsJson, traceId: runId, toolName: runId });
      if (known.has(call.id)) return 'exists';
      const scope = `${tenant}\n${key}`;
      const idempotency =
        key === null ? null : { scope, bodyHash: argsJson, expiresAt: START + given.expires * 1000 };
      const outcome = await store.insertCall(aRecord(call, idempotency));
      if (outcome.kind === 'inserted') known.set(call.id, call);
      return outcome;
    }
    case 'replace': {
      const call = known.get(numbered(given.n, {}).id);
      if (call === undefined) return 'unknown';
      const next = {
        ...moved(call, given.to, given.result),
        ...(given.args === null ? {} : { argsJson: given.args }),
      };
      const outcome = await store.replaceCall(
        next,
        call.version + given.version,
        rowsOf(next, call.timeline.length),
        given.args !== null,
      );
      if (outcome.kind === 'replaced') known.set(call.id, (await store.findCall(call.id)) ?? call);
      return outcome;
    }
    case 'append': {
      const { tenant, trace: traceId, body: text, count } = given;
      return await store.append(
        Array.from({ length: count }, () => anEntry({ tenant, traceId, body: text })),
      );
    }
    case 'run': {
      const { tenant, run: id, agent: agentId, cancel } = given;
      if (cancel)
        return await store.cancelRun(tenant, id, START + 1, anEntry({ tenant, body: JSON.stringify(id) }));
      return await store.ensureRun(aRun({ tenant, id, agentId }), anEntry({ tenant }));
    }
    case 'document': {
      const { kind, id, body: text } = given;
      if (text === null) return await store.deleteDocument(kind, id, [anEntry()]);
      if (given.add) return await store.addDocument(kind, id, text, [anEntry({ tenant: id })]);
      return await store.putDocument(kind, id, text, [], [{ kind: 'grant', id, body: null }]);
    }
    case 'tools': {
      const { tenant, name: tool, client: clientId } = given;
      if (given.remove) return await store.removeTools([{ tenant, name: tool }], anEntry());
      return await store.saveTools([aTool(tool, { tenant, clientId })], anEntry(), [
        { kind: 'contract', id: tool, body: '{}' },
      ]);
    }
    case 'journal': {
      const { journal, after, kinds } = given;
      const isAppended = await store.appendJournal(
        journal,
        after,
        kinds.map((kind) => ({ kind, body: given.body })),
      );
      return [
        isAppended,
        await store.readJournal(journal, 0, 2, ['a', 'B']),
        await store.readJournal(journal, 1, 9),
      ];
    }
    case 'purge': {
      // A partition may be dropped whole, so only the calls that are left in the end are compared.
      return await store.purgeCalls(START + given.n * 1000, given.limit);
    }
    case 'list': {
      const { tenant, run, agent, states, limit, since } = given;
      const filter = {
        tenant,
        ...(run === null ? {} : { runId: run }),
        ...(agent === null ? {} : { agentId: agent }),
        ...(states === undefined ? {} : { states }),
        since: START + since * 500,
      };
      return await allPages((cursor) => store.listCalls(filter, cursor, limit));
    }
  }
}

async function allPages<T>(read: (cursor: string | null) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null = null; ;) {
    const page: Page<T> = await read(cursor);
    items.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === null) return items;
  }
}

/** Everything that can be read. The order of the ledger has a hash of its own in PostgreSQL. */
async function contents(store: Store, known: Known): Promise<unknown> {
  const open: Call[] = [];
  for await (const call of store.openCalls()) open.push(call);
  const tenants = NAMES.slice(0, 5);
  const rows = await store.readLedger({}, 0, 5000);
  return {
    open,
    ledger: rows.map(({ row, call }) => ({ row: { ...row, place: undefined }, call })),
    seq: (await store.ledgerHead()).seq,
    verdict: (await verifyLedger(store, digest)).ok,
    counts: await store.countByState(),
    calls: await Promise.all([...known.keys()].map(async (id) => await store.findCall(id))),
    tools: await store.tools(),
    documents: await Promise.all(
      [...KINDS, 'grant', 'contract'].map((kind) => store.documents(kind as DocumentKind)),
    ),
    byTrace: await Promise.all(
      NAMES.map((traceId) =>
        store
          .readLedger({ traceId, kinds: ['registry.changed'] }, 2, 3)
          .then((found) => found.map(({ row }) => row.seq)),
      ),
    ),
    ofTenants: await Promise.all(
      tenants.map(async (tenant) => ({
        ended: await store.countEnded(tenant),
        runs: withoutCursors(await allPages((cursor) => store.listRuns({ tenant }, cursor, 2))),
        ofAgent: withoutCursors(
          await allPages((cursor) => store.listRuns({ tenant, agentId: 'a' }, cursor, 1)),
        ),
        events: (await store.readEvents({ tenant, askedOrRunBy: { agentId: 'a', clientId: null } }, 0, 5000))
          .rows,
      })),
    ),
  };
}

/** The result, or the fact that the operation was refused: each store has words of its own for that. */
async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    return { refused: String(error) };
  }
}

interface Side {
  readonly store: Store;
  readonly known: Known;
}

async function bothStores(): Promise<readonly [sqlite: Side, postgres: Side]> {
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-same-'));
  const sqlite = await sqliteStore({ file: join(folder, 'store.db'), digest });
  onTestFinished(async () => {
    await sqlite.close();
    rmSync(folder, { recursive: true });
  });
  const { url } = await sharedPostgres(15);
  const schema = aSchema({ url });
  const ids = { firstIdAt: firstCallIdAt, now: () => START };
  const postgres = await postgresStore({ url, schema, digest, ...ids });
  onTestFinished(() => postgres.close());
  return [
    { store: sqlite, known: new Map() },
    { store: postgres, known: new Map() },
  ];
}

describe('the PostgreSQL store', () => {
  it.each([1, 2])(
    'has the same results and contents as the SQLite store after random operations %i',
    async (seed) => {
      const [a, b] = await bothStores();
      for (const [index, given] of fc.sample(operation, { seed, numRuns: OPERATIONS }).entries()) {
        const [one, other] = await Promise.all([
          outcomeOf(apply(a.store, given, a.known)),
          outcomeOf(apply(b.store, given, b.known)),
        ]);
        expect(other, `operation ${index}: ${given.do}`).toEqual(one);
        if ((index + 1) % COMPARED_EVERY === 0)
          expect(await contents(b.store, b.known)).toEqual(await contents(a.store, a.known));
      }
      expect(a.known.size).toBeGreaterThan(10);
    },
  );
});
