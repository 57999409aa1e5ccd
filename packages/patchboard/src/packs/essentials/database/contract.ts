import type { JsonSchema } from '@patchboard/wire';

import type { DatabaseTarget } from './target.ts';
import type { QueryLimits } from './worker/protocol.ts';

const MAX_SQL_LENGTH = 32_768;
const MAX_PARAMS = 200;
const SCALAR = { type: ['string', 'number', 'boolean', 'null'] };

export const DATABASE_INPUT: JsonSchema = {
  type: 'object',
  properties: {
    sql: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_SQL_LENGTH,
      description:
        'Exactly one reading statement, for example "SELECT name FROM products WHERE price_cents < ?".',
    },
    params: {
      description:
        'Values for the placeholders: a list for ? (SQLite) or $1, $2 (PostgreSQL), or an object for :name (SQLite).',
      anyOf: [
        { type: 'array', items: SCALAR, maxItems: MAX_PARAMS },
        { type: 'object', additionalProperties: SCALAR, maxProperties: MAX_PARAMS },
      ],
    },
  },
  required: ['sql'],
  additionalProperties: false,
};

export const DATABASE_OUTPUT: JsonSchema = {
  type: 'object',
  properties: {
    columns: {
      type: 'array',
      items: { type: 'string' },
      description: 'Column names, in order; they may repeat.',
    },
    rows: {
      type: 'array',
      // Lists, because an object would lose columns that share a name.
      items: { type: 'array' },
      description:
        'One list per row, in the order of columns. Integers beyond 2^53 and infinities are texts; bytes are {base64}.',
    },
    row_count: { type: 'integer', minimum: 0, description: 'How many rows are in rows.' },
    truncated: { type: 'boolean', description: 'True when there were more rows than the answer may hold.' },
  },
  required: ['columns', 'rows', 'row_count', 'truncated'],
  additionalProperties: false,
};

/** Returns the description for the target: SQL dialect and tables depend on it. */
export function describe(target: DatabaseTarget, limits: QueryLimits): string {
  return [
    `Runs one read-only SQL statement and answers {columns, rows, row_count, truncated}; rows are lists in the order of columns.`,
    SUBJECT[target.kind],
    `At most ${limits.maxRows} rows or ${Math.floor(limits.maxBytes / 1024)} KiB come back; add LIMIT or aggregate when truncated is true.`,
    'Writing, PRAGMA, ATTACH, transactions and several statements at once are refused.',
  ].join(' ');
}

const SUBJECT: Readonly<Record<DatabaseTarget['kind'], string>> = {
  sample:
    'The database is a SQLite sample of an invented shop: customers(id, name, email, city, country, joined_on), products(id, name, category, price_cents, stock), orders(id, customer_id, status, ordered_at), order_items(order_id, product_id, quantity, price_cents).',
  sqlite: 'The database is SQLite; SELECT name, sql FROM sqlite_master shows its tables.',
  postgres:
    'The database is PostgreSQL; information_schema.tables and information_schema.columns show its tables.',
};
