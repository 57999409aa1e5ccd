import { SCHEMA_VERSION } from '../../store/postgres/migrations.ts';
import type { DatabaseLocation } from '../store-location.ts';
import type { DatabaseFacts, RoleFacts } from './database-facts.ts';

/** The result of one check of `doctor`. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  /** The check passed, but the operator should know. */
  readonly warning?: true;
  readonly detail: string;
}

const OLDEST_VERSION = 150_000;
const NOTABLE_OFFSET_MS = 1000;
const SLOW_ROUND_TRIP_MS = 5;

/** What to do about each setting whose value `off` loses acknowledged writes. */
const DURABILITY: Readonly<Record<string, string>> = {
  fsync:
    'set fsync = on in postgresql.conf and restart PostgreSQL: a power loss damages the database otherwise',
  full_page_writes:
    'set full_page_writes = on in postgresql.conf and reload: a power loss can damage the database otherwise',
  synchronous_commit:
    'set synchronous_commit = on for the server, the database or the role: a crash loses acknowledged calls otherwise',
};

export function databaseFindings(
  facts: DatabaseFacts,
  { schema, prepare }: Pick<DatabaseLocation, 'schema' | 'prepare'>,
): Finding[] {
  return [
    versionFinding(facts),
    roundTripFinding(facts),
    durabilityFinding(facts),
    schemaFinding(facts.role, schema),
    ...privilegeFindings(facts.role, schema),
    poolerFinding(facts, prepare),
    clockFinding(facts),
    tlsFinding(facts),
  ];
}

function versionFinding({ version, versionText }: DatabaseFacts): Finding {
  return {
    check: 'postgres',
    ok: version >= OLDEST_VERSION,
    detail: `${versionText} (15 or newer is needed)`,
  };
}

function roundTripFinding({ roundTripsMs }: DatabaseFacts): Finding {
  const sorted = roundTripsMs.toSorted((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const detail = `${median.toFixed(2)} ms (median of ${sorted.length})`;
  if (median <= SLOW_ROUND_TRIP_MS) return { check: 'round trip', ok: true, detail };
  const advice = 'a call waits for two of them: run the server near the database';
  return { check: 'round trip', ok: true, warning: true, detail: `${detail}; ${advice}` };
}

function durabilityFinding({ durability }: DatabaseFacts): Finding {
  const check = 'durability';
  const off = Object.entries(DURABILITY).filter(([name]) => durability[name] === 'off');
  if (off.length > 0)
    return { check, ok: false, detail: off.map(([name, advice]) => `${name} is off: ${advice}`).join('; ') };
  const values = Object.keys(DURABILITY).map((name) => `${name} ${durability[name] ?? 'unknown'}`);
  return { check, ok: true, detail: values.join(', ') };
}

function schemaFinding(
  { role, schemaExists, schemaVersion, notWritable, isReadOnly }: RoleFacts,
  schema: string,
): Finding {
  const check = 'schema';
  if (isReadOnly)
    return {
      check,
      ok: false,
      detail: 'the database is read-only, such as a standby: name the primary server',
    };
  if (!schemaExists || notWritable === null)
    return { check, ok: true, detail: `${schema} is created at the first start of the server` };
  if (notWritable.includes('meta'))
    return { check, ok: false, detail: `${schema} exists, but role ${role} cannot read its version` };
  if (schemaVersion === null)
    return {
      check,
      ok: false,
      detail: `${schema} has no version: a copy into it was interrupted; repeat patchboard data copy`,
    };
  const state = schemaVersion < SCHEMA_VERSION ? '; the next start of a server brings it forward' : '';
  return {
    check,
    ok: schemaVersion <= SCHEMA_VERSION,
    detail: `${schema}, version ${schemaVersion}${state}`,
  };
}

function privilegeFindings(
  { role, canMigrate, notWritable, ledgerRights, schemaVersion }: RoleFacts,
  schema: string,
): Finding[] {
  const check = 'privileges';
  const isCurrent = schemaVersion === SCHEMA_VERSION;
  if (notWritable?.includes('meta') === true)
    return [
      {
        check,
        ok: false,
        detail: `role ${role} cannot read the schema ${schema}: let its owner run GRANT USAGE ON SCHEMA ${schema} TO ${role} and GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role} (docs/guides/postgres.md)`,
      },
    ];
  if (!canMigrate && !isCurrent)
    return [
      {
        check,
        ok: false,
        detail: `role ${role} cannot create or change the schema: run CREATE SCHEMA ${schema} AUTHORIZATION ${role} as the owner of the database, or start the server once as the owner of the schema`,
      },
    ];
  if (notWritable !== null && notWritable.length > 0)
    return [
      {
        check,
        ok: false,
        detail: `role ${role} cannot read and write ${notWritable.join(', ')}: run GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}`,
      },
    ];
  const migrates = canMigrate ? 'and migrate' : 'but not migrate: start new versions once as the owner';
  const written: Finding = { check, ok: true, detail: `role ${role} can read, write ${migrates}` };
  if (ledgerRights.length === 0) return [written];
  return [
    written,
    {
      check,
      ok: true,
      warning: true,
      detail: `role ${role} may ${ledgerRights.join(', ')} ledger rows, which only a trigger prevents: use a role that does not own the tables (docs/guides/postgres.md)`,
    },
  ];
}

function poolerFinding({ isPooled, keepsPreparedStatements }: DatabaseFacts, prepare: boolean): Finding {
  const check = 'pooler';
  if (!isPooled) return { check, ok: true, detail: 'none: the connection is direct' };
  if (keepsPreparedStatements === true)
    return { check, ok: true, detail: 'there is one, and it keeps prepared statements' };
  if (!prepare)
    return {
      check,
      ok: true,
      detail: 'there is one; store.prepare is false, so it need not keep statements',
    };
  return {
    check,
    ok: false,
    detail:
      'there is one that does not keep prepared statements: set store.prepare to false in the config, or max_prepared_statements in PgBouncer 1.21 or newer',
  };
}

function clockFinding({ clockOffsetMs }: DatabaseFacts): Finding {
  const check = 'clock';
  const offset = `${clockOffsetMs < 0 ? '-' : '+'}${Math.abs(Math.round(clockOffsetMs))} ms`;
  const detail = `the clock of the database is at ${offset} of this machine's`;
  if (Math.abs(clockOffsetMs) <= NOTABLE_OFFSET_MS) return { check, ok: true, detail };
  return { check, ok: true, warning: true, detail: `${detail}; synchronize both with NTP` };
}

function tlsFinding({ isEncrypted, isRemote }: DatabaseFacts): Finding {
  const check = 'tls';
  if (isEncrypted) return { check, ok: true, detail: 'the connection is encrypted' };
  if (!isRemote) return { check, ok: true, detail: 'not used: the database is on this machine' };
  return {
    check,
    ok: true,
    warning: true,
    detail:
      'not used: add sslmode=verify-full and sslrootcert to the URL, or other machines on the network can read the data',
  };
}
