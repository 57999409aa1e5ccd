import { messageOf, StorageUnavailable } from '../../core/failures.ts';
import { connectAdvice, isConnectionLost, isPreparedStatementLost } from '../../postgres/sql-errors.ts';
import { StoreRefused, StoreUnreachable } from '../store-refused.ts';
import { refusalOf, type SchemaParts } from './migrations.ts';

/** Converts an error of opening the store to one for the operator. */
export function openingRefusal(error: unknown, store: Pick<SchemaParts, 'schema' | 'shown'>): unknown {
  if (error instanceof StoreRefused) return error;
  const { shown } = store;
  if (isPreparedStatementLost(error)) return losesStatements(shown);
  const refused = refusalOf(error, store);
  if (refused !== error) return refused;
  const isAway = isConnectionLost(error) || error instanceof StorageUnavailable;
  const Refusal = isAway ? StoreUnreachable : StoreRefused;
  return new Refusal(shown, `cannot be opened (${messageOf(error)})`, connectAdvice(error));
}

export function losesStatements(shown: string): StoreRefused {
  return new StoreRefused(
    shown,
    'is behind a pooler that does not keep prepared statements',
    'set store.prepare to false, or max_prepared_statements in PgBouncer 1.21 or newer',
  );
}
