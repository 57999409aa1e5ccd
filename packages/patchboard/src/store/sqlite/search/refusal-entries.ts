import type { NamePatterns } from '@patchboard/wire';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { IndexedRefusal, RefusalCriteria } from '../../../core/search/call-search.ts';
import { integer, text, textOrNull } from '../rows.ts';

/** The refused requests, in order of their ledger rows. */
export class RefusalEntries {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #removeBefore: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#insert = database.prepare('insert into refusals values (?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#removeBefore = database.prepare('delete from refusals where at < ?');
  }

  add(refusals: readonly IndexedRefusal[]): void {
    for (const { seq, at, tenant, agentId, toolName, code, message, traceId, unrecorded } of refusals)
      this.#insert.run(seq, at, tenant, agentId, toolName, code, message, traceId, unrecorded);
  }

  removeBefore(before: number): void {
    this.#removeBefore.run(before);
  }

  find(criteria: RefusalCriteria, before: number | null, limit: number): readonly IndexedRefusal[] {
    const { tenant, agentId, tools, agents, codes, traceId, since, until } = criteria;
    const where: string[] = ['tenant = ?'];
    const values: SQLInputValue[] = [tenant];
    const add = (sql: string, value: SQLInputValue | null | undefined): void => {
      if (value === undefined || value === null) return;
      where.push(sql);
      values.push(value);
    };
    add('seq < ?', before);
    add('agent = ?', agentId);
    add('trace = ?', traceId);
    add('+at >= ?', since);
    add('+at < ?', until);
    for (const [column, patterns] of [
      ['tool', tools],
      ['agent', agents],
      ['code', codes],
    ] as const)
      for (const { sql, globs } of patterns === undefined ? [] : globsOf(column, patterns)) {
        where.push(sql);
        values.push(...globs);
      }
    const statement = this.#database.prepare(
      `select * from refusals where ${where.join(' and ')} order by seq desc limit ?`,
    );
    return statement.all(...values, limit).map((row) => ({
      seq: integer(row, 'seq'),
      at: integer(row, 'at'),
      tenant: text(row, 'tenant'),
      agentId: text(row, 'agent'),
      toolName: text(row, 'tool'),
      code: text(row, 'code'),
      message: text(row, 'message'),
      traceId: textOrNull(row, 'trace'),
      unrecorded: integer(row, 'unrecorded'),
    }));
  }
}

function globsOf(
  column: string,
  { any, none }: NamePatterns,
): readonly { readonly sql: string; readonly globs: readonly string[] }[] {
  const oneOf = (patterns: readonly string[]): string => patterns.map(() => `${column} glob ?`).join(' or ');
  return [
    ...(any.length === 0 ? [] : [{ sql: `(${oneOf(any)})`, globs: any.map(globOf) }]),
    ...(none.length === 0 ? [] : [{ sql: `not (${oneOf(none)})`, globs: none.map(globOf) }]),
  ];
}

/** Only `*` is a wildcard in a pattern of names. */
function globOf(pattern: string): string {
  return pattern.replaceAll(/[?[]/g, '[$&]');
}
