import {
  CALL_ORDERS,
  CALL_SORTS,
  parseCallQuery,
  parseMoment,
  parseTime,
  reason,
  reasonsText,
  type CallOrderName,
  type CallQuery,
  type CallSortName,
  type InputIssueView,
  type QueryTarget,
  type ReasonView,
} from '@patchboard/wire';
import { failure, problemOf } from '../../../core/failures.ts';
import type { CallSort } from '../../../core/search/call-search.ts';
import { RequestRefused } from './problem.ts';
import type { Schema } from './routes.ts';
import { enumOf, FLAG, TEXT } from './schemas.ts';

/** Query parameters of a list of calls that can be sorted. */
export const SORT_QUERY: { readonly sort: Schema<CallSortName>; readonly order: Schema<CallOrderName> } = {
  sort: { ...enumOf(CALL_SORTS), description: 'durations of open calls are those up to the first page' },
  order: { ...enumOf(CALL_ORDERS), description: 'default: the newest or longest first' },
};

export const SINCE: Schema<string> = {
  ...TEXT,
  description: 'created at or after; RFC 3339, epoch seconds, or how long ago, such as `1h`',
};
export const UNTIL: Schema<string> = {
  ...TEXT,
  description: 'created before; RFC 3339, epoch seconds, or how long ago, such as `1h`',
};

/** The member of a response that is derived from the index. */
export const COMPLETE: Schema = {
  ...FLAG,
  description: 'false: the index is behind the store, and what ended a moment ago may be missing',
};

const SHOWN_PROBLEMS = 20;

export function sortOf({
  sort = 'created',
  order = 'desc',
}: {
  readonly sort?: CallSortName;
  readonly order?: CallOrderName;
}): CallSort {
  return { by: sort, isAscending: order === 'asc' };
}

/** Parses the parameter `query`; absent, it matches everything. Refuses the request if it has problems. */
export function queryOf(text: string | undefined, now: number, target: QueryTarget): CallQuery {
  const parsed = parseCallQuery(text ?? '', now, target);
  if (parsed.ok) return parsed.query;
  const issues = parsed.problems.slice(0, SHOWN_PROBLEMS).map(({ code, params, column, length }) => {
    const problem = [reason('query_at_column', { column, problem: [{ code, params }] })];
    return { path: '/query', message: reasonsText(problem), reasons: problem, column, length };
  });
  throw refused(issues);
}

/** Parses a time, which may be how long ago; undefined if it is absent. Refuses the request if it is none. */
export function momentOf(text: string | undefined, now: number, name: string): number | undefined {
  if (text === undefined) return undefined;
  const at = parseTime(text) ?? parseMoment(text, now);
  if (at !== null) return at;
  throw refusedParameter(name, reason('query_not_time', { value: text.slice(0, 100) }));
}

export function refusedParameter(name: string, why: ReasonView): RequestRefused {
  return refused([{ path: `/${name}`, message: reasonsText([why]), reasons: [why] }]);
}

function refused(issues: readonly InputIssueView[]): RequestRefused {
  const reasons = issues
    .slice(0, 3)
    .map((issue) => reason('request_issue', { place: `query${issue.path}`, problem: problemOf(issue) }));
  return new RequestRefused(failure('body_invalid', reasons, { issues }));
}
