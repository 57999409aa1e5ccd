import type { Reason } from '@patchboard/wire';

import type { OwnStore } from '../../../../postgres/own-store.ts';

/** The database. Sent over IPC, not in arguments or environment, which other users can list. */
export type QuerySource =
  | { readonly kind: 'sqlite'; readonly file: string }
  /** `ownStore`: refused if the role can read it. */
  | { readonly kind: 'postgres'; readonly url: string; readonly ownStore: OwnStore | null };

export type Scalar = string | number | boolean | null;
export type QueryParams = readonly Scalar[] | Readonly<Record<string, Scalar>>;

/** As a type guard: `Array.isArray` does not narrow a union with a readonly list. */
export function isList(params: QueryParams): params is readonly Scalar[] {
  return Array.isArray(params);
}

export interface QueryRequest {
  readonly source: QuerySource;
  readonly sql: string;
  /** The first word of the statement, in upper case. */
  readonly keyword: string;
  readonly params: QueryParams;
  /** The child kills itself shortly after this time. */
  readonly budgetMs: number;
  readonly limits: QueryLimits;
}

export interface QueryLimits {
  readonly maxRows: number;
  /** Limit for the rows as JSON. */
  readonly maxBytes: number;
  /** Limit for one value inside SQLite. */
  readonly maxValueBytes: number;
  /** Limit for the resident set size of the child. */
  readonly maxMemoryBytes: number;
}

export interface QueryRows {
  readonly kind: 'rows';
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly truncated: boolean;
}

export type QueryOutcome =
  | QueryRows
  /** The statement is not allowed. */
  | { readonly kind: 'refused'; readonly why: Reason }
  /** The database is the platform's own store. */
  | { readonly kind: 'forbidden' }
  /** The database reported an error. */
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'unreachable'; readonly message: string }
  /** The query exceeded its memory limit; the child ends. */
  | { readonly kind: 'exhausted' };

/** The message of the child to its parent. */
export interface QueryReply {
  readonly outcome: QueryOutcome;
  /** Whether the child has grown too large to be reused. */
  readonly last: boolean;
}
