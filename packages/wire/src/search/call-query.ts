import type { CallStateName } from '../call-state.ts';
import type { ReasonView } from '../reasons/reason.ts';

/** Names that match: one of `any` (empty: every name) and none of `none`. A `*` stands for any characters. */
export interface NamePatterns {
  readonly any: readonly string[];
  readonly none: readonly string[];
}

/** Milliseconds: at least `atLeast` and less than `below`. */
export interface MsRange {
  readonly atLeast?: number;
  readonly below?: number;
}

/**
 * A parsed query, such as `tool:weather.* state:failed ran>2s since:1h "text in the arguments"`. All members must match;
 * absent ones match every call.
 */
export interface CallQuery {
  readonly tools?: NamePatterns;
  readonly agents?: NamePatterns;
  /** In the order of `CALL_STATES`. */
  readonly states?: readonly CallStateName[];
  /** Failure codes; patterns, because tools and clients use codes of their own. */
  readonly codes?: NamePatterns;
  /** Refused requests instead of calls: they have a ledger row and no call. `state:refused` sets it. */
  readonly isRefused?: true;
  readonly runId?: string;
  readonly traceId?: string;
  readonly parentCallId?: string;
  /** The client that runs the calls: of tools that a client or its devices registered. */
  readonly clientId?: string;
  readonly waitedMs?: MsRange;
  readonly ranMs?: MsRange;
  readonly totalMs?: MsRange;
  /** Created at or after, epoch milliseconds. */
  readonly since?: number;
  /** Created before, epoch milliseconds. */
  readonly until?: number;
  /** Texts that the arguments contain: whole words, in this order, in any case. */
  readonly texts?: readonly string[];
}

/** What is wrong with a part of a query: `text.slice(column - 1, column - 1 + length)`. */
export interface QueryProblem extends ReasonView {
  /** From 1, in UTF-16 units. */
  readonly column: number;
  /** At least 1; the marked part is inside the text. */
  readonly length: number;
}

export type ParsedCallQuery =
  | { readonly ok: true; readonly query: CallQuery }
  | { readonly ok: false; readonly problems: readonly QueryProblem[] };

/**
 * What a query selects, which decides the terms it may have. `any`: calls, or refused requests with `state:refused`.
 * `refused`: refused requests, without that term. `metrics`: tools and agents only.
 */
export type QueryTarget = 'any' | 'calls' | 'refused' | 'metrics';

/** Limits of a query. */
export const QUERY_LIMITS = {
  characters: 2000,
  terms: 50,
  valueCharacters: 200,
  /** `*` in one value. */
  wildcards: 8,
} as const;

/** What a list of calls is sorted by. */
export const CALL_SORTS = ['created', 'waited', 'ran', 'total'] as const;
export type CallSortName = (typeof CALL_SORTS)[number];

/** The direction of a sorted list of calls; the first is the default. */
export const CALL_ORDERS = ['desc', 'asc'] as const;
export type CallOrderName = (typeof CALL_ORDERS)[number];
