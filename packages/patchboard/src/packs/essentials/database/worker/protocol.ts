/** Where the child finds the data. It travels over the channel, never in arguments or environment that others can list. */
export type QuerySource =
  { readonly kind: 'sqlite'; readonly file: string } | { readonly kind: 'postgres'; readonly url: string };

export type Scalar = string | number | boolean | null;
export type QueryParams = readonly Scalar[] | Readonly<Record<string, Scalar>>;

export interface QueryRequest {
  readonly source: QuerySource;
  readonly sql: string;
  /** Its first word, in capitals. */
  readonly keyword: string;
  readonly params: QueryParams;
  /** The child ends itself soon after, should nobody else end it. */
  readonly budgetMs: number;
  readonly limits: QueryLimits;
}

export interface QueryLimits {
  readonly maxRows: number;
  /** Of the rows as JSON. */
  readonly maxBytes: number;
  /** Of one value inside SQLite. */
  readonly maxValueBytes: number;
  /** Resident size of the whole child. */
  readonly maxMemoryBytes: number;
}

export interface QueryRows {
  readonly kind: 'rows';
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly truncated: boolean;
}

export type QueryAnswer =
  | QueryRows
  /** The statement is not allowed here. */
  | { readonly kind: 'refused'; readonly message: string }
  /** The database says that it cannot be done. */
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'unreachable'; readonly message: string }
  /** The query took more memory than it may; the child ends. */
  | { readonly kind: 'exhausted' };

/** What the child sends back. */
export interface QueryReply {
  readonly answer: QueryAnswer;
  /** The child has grown too large to be used again. */
  readonly last: boolean;
}
