import { DatabaseSync } from 'node:sqlite';
import type { SQLInputValue, StatementSync } from 'node:sqlite';

import { messageOf } from '../../../../core/failures.ts';
import { isList, type QueryOutcome, type QueryParams, type QueryRequest, type Scalar } from './protocol.ts';
import { RowCollector } from './row-collector.ts';
import { readOnlyAuthorizer } from './sqlite-authorizer.ts';

const BUSY_TIMEOUT_MS = 2000;
const MAX_LIKE_PATTERN = 1000;

/** Opens the file for a single query, so that no state is shared between callers. */
export function querySqlite(file: string, request: QueryRequest): QueryOutcome {
  const authorizer = readOnlyAuthorizer();
  try {
    using database = openReadOnly(file, request.limits.maxValueBytes);
    database.setAuthorizer((action, first, second) => authorizer.decide(action, first, second));
    return readRows(database.prepare(request.sql), request);
  } catch (error) {
    if (authorizer.refusal !== undefined) return { kind: 'refused', why: authorizer.refusal };
    return { kind: 'failed', message: messageOf(error) };
  }
}

function openReadOnly(file: string, maxValueBytes: number): DatabaseSync {
  const database = new DatabaseSync(file, {
    readOnly: true,
    allowExtension: false,
    defensive: true,
    timeout: BUSY_TIMEOUT_MS,
    limits: { length: maxValueBytes, attach: 0, likePatternLength: MAX_LIKE_PATTERN },
  });
  // Sorting uses memory, which is limited, instead of files, which could fill the disk.
  database.exec('PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY');
  return database;
}

function readRows(statement: StatementSync, request: QueryRequest): QueryOutcome {
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  const columns = statement.columns().map((column) => column.name);
  const collector = new RowCollector(request.limits);
  for (const row of iterate(statement, request.params)) {
    // `setReturnArrays` returns rows as arrays; the type does not reflect it.
    if (!collector.add(row as unknown as readonly unknown[])) break;
  }
  return collector.result(columns);
}

function iterate(statement: StatementSync, params: QueryParams): Iterable<unknown> {
  if (isList(params)) return statement.iterate(...params.map(toSqlite));
  return statement.iterate(
    Object.fromEntries(Object.entries(params).map(([name, value]) => [name, toSqlite(value)])),
  );
}

/** Binds whole numbers as integers instead of REAL, and booleans, which cannot be bound, as 1 and 0. */
function toSqlite(value: Scalar): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}
