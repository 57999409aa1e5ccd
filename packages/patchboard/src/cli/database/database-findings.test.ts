import { describe, expect, it } from 'vitest';
import { SCHEMA_VERSION } from '../../store/postgres/migrations.ts';
import type { DatabaseFacts, RoleFacts } from './database-facts.ts';
import { databaseFindings, type Finding } from './database-findings.ts';

const ROLE: RoleFacts = {
  role: 'app',
  isReadOnly: false,
  schemaExists: true,
  schemaVersion: SCHEMA_VERSION,
  canMigrate: true,
  notWritable: [],
  ledgerRights: [],
};
const GOOD: DatabaseFacts = {
  version: 150_004,
  versionText: '15.4',
  roundTripsMs: [0.3, 0.2, 9],
  durability: { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' },
  role: ROLE,
  isPooled: false,
  keepsPreparedStatements: null,
  clockOffsetMs: 12,
  isEncrypted: true,
  isRemote: true,
};

function findings(facts: Partial<DatabaseFacts>, role: Partial<RoleFacts> = {}, prepare = true): Finding[] {
  return databaseFindings({ ...GOOD, ...facts, role: { ...ROLE, ...role } }, { schema: 'board', prepare });
}

function finding(check: string, ...given: Parameters<typeof findings>): Finding | undefined {
  return findings(...given).findLast((one) => one.check === check);
}

describe('a database', () => {
  it('passes every check if nothing is wrong', () => {
    expect(findings({}).map(({ check, ok, warning }) => [check, ok, warning])).toEqual(
      ['postgres', 'round trip', 'durability', 'schema', 'privileges', 'pooler', 'clock', 'tls'].map(
        (check) => [check, true, undefined],
      ),
    );
    expect(finding('round trip', {})?.detail).toBe('0.30 ms (median of 3)');
  });

  it.each<[check: string, text: string, facts: Partial<DatabaseFacts>, role?: Partial<RoleFacts>]>([
    ['postgres', '14.9 (15 or newer', { version: 140_009, versionText: '14.9' }],
    ['durability', 'fsync is off: set fsync = on', { durability: { ...GOOD.durability, fsync: 'off' } }],
    [
      'durability',
      'full_page_writes is off',
      { durability: { ...GOOD.durability, full_page_writes: 'off' } },
    ],
    [
      'durability',
      'synchronous_commit is off',
      { durability: { ...GOOD.durability, synchronous_commit: 'off' } },
    ],
    ['schema', 'read-only, such as a standby', {}, { isReadOnly: true }],
    ['schema', 'a copy into it was interrupted', {}, { schemaVersion: null }],
    ['schema', 'board, version', {}, { schemaVersion: SCHEMA_VERSION + 1 }],
    [
      'privileges',
      'run CREATE SCHEMA board AUTHORIZATION app',
      {},
      { schemaExists: false, schemaVersion: null, notWritable: null, canMigrate: false },
    ],
    ['pooler', 'set store.prepare to false', { isPooled: true, keepsPreparedStatements: false }],
    [
      'schema',
      'role app cannot read its version',
      {},
      { schemaVersion: null, notWritable: ['calls', 'meta'] },
    ],
    [
      'privileges',
      'run GRANT USAGE ON SCHEMA board TO app',
      {},
      { schemaVersion: null, canMigrate: false, notWritable: ['calls', 'meta'] },
    ],
    ['privileges', 'cannot read and write calls, runs: run GRANT', {}, { notWritable: ['calls', 'runs'] }],
  ])('fails: %s, %s', (check, text, facts, role) => {
    expect(finding(check, facts, role)).toMatchObject({
      ok: false,
      detail: expect.stringContaining(text) as string,
    });
  });

  it.each<[check: string, text: string, facts: Partial<DatabaseFacts>, role?: Partial<RoleFacts>]>([
    ['round trip', 'run the server near the database', { roundTripsMs: [8] }],
    ['privileges', 'may update, delete ledger rows', {}, { ledgerRights: ['update', 'delete'] }],
    ['clock', 'is at -2500 ms', { clockOffsetMs: -2500 }],
    ['tls', 'add sslmode=verify-full', { isEncrypted: false }],
  ])('passes with a warning: %s, %s', (check, text, facts, role) => {
    expect(finding(check, facts, role)).toMatchObject({
      ok: true,
      warning: true,
      detail: expect.stringContaining(text) as string,
    });
  });

  it('passes without a warning where there is no problem', () => {
    expect(finding('tls', { isEncrypted: false, isRemote: false })?.warning).toBeUndefined();
    expect(finding('pooler', { isPooled: true, keepsPreparedStatements: true })?.warning).toBeUndefined();
    const pooled = { isPooled: true, keepsPreparedStatements: false };
    expect(finding('pooler', pooled, {}, false)).toMatchObject({ ok: true });
    expect(finding('pooler', pooled, {}, false)?.warning).toBeUndefined();
    const fresh = { schemaExists: false, schemaVersion: null, notWritable: null };
    expect(finding('schema', {}, fresh)?.detail).toBe('board is created at the first start of the server');
    // A plain role needs no right to migrate while the schema is current.
    expect(finding('privileges', {}, { canMigrate: false })).toMatchObject({ ok: true });
  });
});
