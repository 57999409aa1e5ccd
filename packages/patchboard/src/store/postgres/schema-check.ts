import type { Queryable } from '../../postgres/connection.ts';
import { textArray } from '../../postgres/arrays.ts';
import { StoreRefused } from '../store-refused.ts';
import type { Tables } from './schema.ts';

type Privilege = 'select' | 'insert' | 'update' | 'delete';

/** What a server does with each table. The ledger is only appended to. */
const WRITER_PRIVILEGES: Readonly<Record<keyof Tables, readonly Privilege[]>> = {
  meta: ['select'],
  writers: ['select', 'insert', 'update'],
  segments: ['select', 'insert', 'delete'],
  ledger: ['select', 'insert'],
  ledger_order: ['select', 'insert'],
  ledger_head: ['select', 'update'],
  totals: ['select', 'insert', 'update'],
  calls: ['select', 'insert', 'update', 'delete'],
  open_calls: ['select', 'insert', 'update', 'delete'],
  ended_calls: ['select', 'insert', 'delete'],
  idempotency: ['select', 'insert', 'update', 'delete'],
  runs: ['select', 'insert', 'update'],
  documents: ['select', 'insert', 'update', 'delete'],
  tools: ['select', 'insert', 'update', 'delete'],
  journals: ['select', 'insert'],
  revisions: ['select', 'insert', 'update'],
  removals: ['select', 'insert', 'update', 'delete'],
  tool_offers: ['select', 'insert', 'update', 'delete'],
  tokens: ['select', 'insert', 'update', 'delete'],
  devices: ['select', 'insert', 'update', 'delete'],
  index_state: ['select', 'insert', 'update'],
  indexed_calls: ['select', 'insert', 'delete'],
  indexed_refusals: ['select', 'insert', 'delete'],
  indexed_names: ['select', 'insert', 'update', 'delete'],
  call_metrics: ['select', 'insert', 'update', 'delete'],
};
const NAMES = Object.keys(WRITER_PRIVILEGES) as (keyof Tables)[];

export interface CheckedSchema {
  readonly schema: string;
  /** The URL without its password, for messages. */
  readonly shown: string;
}

interface Lack {
  readonly name: string;
  readonly privilege: Privilege;
  readonly exists: boolean;
}

/**
 * Rejects with `StoreRefused` if a table is missing, or the role lacks a privilege that `use` needs: at the start, and not
 * at the first write that needs it. Reads the catalogue only.
 */
export async function checkTables(
  queryable: Queryable,
  { schema, shown }: CheckedSchema,
  use: 'read' | 'write' | 'version',
): Promise<void> {
  const wanted = (use === 'version' ? (['meta'] as const) : NAMES).flatMap((name) =>
    (use === 'write' ? WRITER_PRIVILEGES[name] : (['select'] as const)).map((privilege) => ({
      name,
      privilege,
    })),
  );
  const { rows: lacks } = await queryable.query<Lack>({ name: 'check_tables', text: CHECK }, [
    schema,
    textArray(wanted.map(({ name }) => name)),
    textArray(wanted.map(({ privilege }) => privilege)),
  ]);
  const missing = [...new Set(lacks.filter(({ exists }) => !exists).map(({ name }) => name))];
  if (missing.length > 0)
    throw new StoreRefused(
      shown,
      `has a damaged schema ${schema}: without the table ${missing.join(', ')}`,
      'restore it from a backup, or name another schema with store.schema',
    );
  await checkPrivileges(queryable, { schema, shown }, lacks);
}

const CHECK = `select x.name, x.privilege, c.oid is not null as exists
  from unnest($2::text[], $3::text[]) with ordinality as x (name, privilege, n)
  left join pg_namespace s on s.nspname = $1
  left join pg_class c on c.relnamespace = s.oid and c.relname = x.name and c.relkind in ('r', 'p')
  where c.oid is null or not has_table_privilege(c.oid, x.privilege)
  order by x.n`;

async function checkPrivileges(
  queryable: Queryable,
  { schema, shown }: CheckedSchema,
  lacks: readonly Lack[],
): Promise<void> {
  const text = `select quote_ident(current_user) as role, has_schema_privilege(oid, 'usage') as usage
    from pg_namespace where nspname = $1`;
  const { rows } = await queryable.query<{ role: string; usage: boolean }>({ name: 'check_usage', text }, [
    schema,
  ]);
  const { role = 'the role', usage = true } = rows[0] ?? {};
  if (usage && lacks.length === 0) return;
  const [lack] = lacks;
  const problem =
    usage && lack !== undefined ? `${lack.privilege} on ${schema}.${lack.name}` : `usage on schema ${schema}`;
  const others = lacks.length + (usage ? 0 : 1) - 1;
  throw new StoreRefused(
    shown,
    `does not give the role ${role} the privilege ${problem}${others > 0 ? ` and ${others} more` : ''}`,
    `let the owner run: ${grants(schema, role, lacks, usage).join('; ')}`,
  );
}

/** With many tables, the statement for all of them is easier to type than one for each. */
const MOST_TABLES = 3;

function grants(schema: string, role: string, lacks: readonly Lack[], usage: boolean): string[] {
  const statements = usage ? [] : [`grant usage on schema ${schema} to ${role}`];
  const names = [...new Set(lacks.map(({ name }) => name))];
  if (names.length > MOST_TABLES)
    return [
      ...statements,
      `grant select, insert, update, delete on all tables in schema ${schema} to ${role}`,
    ];
  for (const name of names) {
    const privileges = lacks.filter((lack) => lack.name === name).map(({ privilege }) => privilege);
    statements.push(`grant ${privileges.join(', ')} on ${schema}.${name} to ${role}`);
  }
  return statements;
}
