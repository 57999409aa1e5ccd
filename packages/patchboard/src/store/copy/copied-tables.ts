import { OPEN_CODES } from '../state-codes.ts';
import { CALL_COLUMNS } from '../postgres/call-row.ts';
import type { Tables } from '../postgres/schema.ts';
import { DEADLINE_IN_TAIL } from '../postgres/shared-schema.ts';

export type Column = readonly [name: string, type: 'text' | 'int8'];
export type CopiedRow = Readonly<Record<string, string | number | null>>;

/** A table that is copied row by row. Both sides return the same columns in the same order. */
export interface CopiedTable {
  readonly name: 'calls' | 'runs' | 'documents' | 'tools' | 'journals';
  readonly columns: readonly Column[];
  /** The rows in the SQLite store. */
  readonly source: string;
  /** Inserts the rows of `x`. Repeating it changes nothing. */
  insert(tables: Tables): string;
  /** The rows in PostgreSQL. */
  target(tables: Tables): string;
}

const STATE_COLUMNS: readonly Column[] = [
  ['version', 'int8'],
  ['state', 'int8'],
  ['ended_at', 'int8'],
  ['tail', 'text'],
  ['result', 'text'],
  ['scope', 'text'],
  ['body_hash', 'text'],
  ['expires_at', 'int8'],
];
const CALL_NAMES = CALL_COLUMNS.map(([name]) => name);

/** A call with its state and its idempotency key, which PostgreSQL keeps in tables of their own. */
const calls: CopiedTable = {
  name: 'calls',
  columns: [...CALL_COLUMNS, ...STATE_COLUMNS],
  source: `select ${CALL_NAMES.join(', ')}, version, state, ended_at, tail, result, idempotency_scope as scope,
    idempotency_hash as body_hash, idempotency_expires_at as expires_at from calls order by id`,
  insert: (t) => `, called as (
      insert into ${t.calls} (${CALL_NAMES.join(', ')}) select ${CALL_NAMES.join(', ')} from x on conflict do nothing),
    opened as (
      insert into ${t.open_calls} (id, version, state, owner, tail, moved_by, deadline_at, client_id)
      select id, version, state, 1, tail, 1, ${DEADLINE_IN_TAIL}, client_id from x where state in (${OPEN_CODES}) on conflict do nothing),
    ended as (
      insert into ${t.ended_calls} (id, version, state, ended_at, tail, result)
      select id, version, state, ended_at, tail, result from x where state not in (${OPEN_CODES}) on conflict do nothing)
    insert into ${t.idempotency} (scope, call_id, body_hash, claimed_at, expires_at)
    select scope, id, body_hash, created_at, expires_at from x where scope is not null on conflict do nothing`,
  // `offset 0` keeps the planner from joining whole tables, whose size it does not know yet.
  target: (t) => `select ${CALL_NAMES.map((name) => `c.${name}`).join(', ')},
      coalesce(o.version, e.version) as version, coalesce(o.state, e.state) as state, e.ended_at,
      coalesce(o.tail, e.tail) as tail, e.result, i.scope, i.body_hash, i.expires_at
    from ${t.calls} c
    left join lateral (select * from ${t.open_calls} where id = c.id offset 0) o on true
    left join lateral (select * from ${t.ended_calls} where id = c.id offset 0) e on true
    left join lateral (select * from ${t.idempotency} where call_id = c.id offset 0) i on true order by c.id`,
};

/** A table that is the same on both sides. */
function plain(
  name: Exclude<CopiedTable['name'], 'calls'>,
  columns: readonly Column[],
  order: string,
): CopiedTable {
  const names = columns.map(([column]) => column).join(', ');
  return {
    name,
    columns,
    source: `select ${names} from ${name} order by ${order}`,
    // In the order of the source, so that generated numbers are in that order too.
    insert: (t) =>
      `insert into ${t[name]} (${names}) select ${names} from x order by n on conflict do nothing`,
    target: (t) => `select ${names} from ${t[name]} order by ${order}`,
  };
}

export const COPIED_TABLES: readonly CopiedTable[] = [
  plain(
    'documents',
    [
      ['kind', 'text'],
      ['id', 'text'],
      ['body', 'text'],
    ],
    'kind, id',
  ),
  plain(
    'tools',
    [
      ['tenant', 'text'],
      ['name', 'text'],
      ['client_id', 'text'],
      ['wire_name', 'text'],
      ['spec', 'text'],
      ['registered_at', 'int8'],
    ],
    'tenant, name',
  ),
  plain(
    'runs',
    [
      ['tenant', 'text'],
      ['id', 'text'],
      ['agent_id', 'text'],
      ['created_at', 'int8'],
      ['cancelled_at', 'int8'],
    ],
    'no',
  ),
  plain(
    'journals',
    [
      ['journal', 'text'],
      ['no', 'int8'],
      ['kind', 'text'],
      ['body', 'text'],
    ],
    'journal, no',
  ),
  calls,
];
