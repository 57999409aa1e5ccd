import { parseTime, reason, reasonsText, WIRE_LIMITS } from '@patchboard/wire';
import { failure } from '../../../core/failures.ts';
import { BadCursor } from '../../../core/ports.ts';
import { RequestRefused } from './problem.ts';
import type { Schema } from './routes.ts';
import { COUNT, nullable, SEQUENCE_PATTERN, TEXT } from './schemas.ts';

/** Query parameters of every list. */
export const PAGE_QUERY: { readonly limit: Schema<number>; readonly cursor: Schema<string> } = {
  limit: {
    ...COUNT,
    minimum: 1,
    maximum: WIRE_LIMITS.pageSizeMax,
    default: WIRE_LIMITS.pageSize,
  },
  cursor: { ...TEXT, description: '`next_cursor` of the page before' },
};

export const NEXT_CURSOR: Schema = nullable(TEXT);

export interface PageQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

export function pageOf(query: PageQuery): { limit: number; cursor: string | null } {
  return { limit: query.limit ?? WIRE_LIMITS.pageSize, cursor: query.cursor ?? null };
}

/** Parses a cursor that is a ledger sequence number; null means the beginning. */
export function sequenceOf(cursor: string | null): number {
  if (cursor !== null && !SEQUENCE_PATTERN.test(cursor)) throw new BadCursor();
  return Number(cursor ?? 0);
}

/** Serializes one page of a list; `rows` are JSON texts. `isComplete`: for a list with the member `complete`. */
export function pageJson(
  plural: string,
  rows: readonly string[],
  nextCursor: string | null,
  isComplete?: boolean,
): string {
  const complete = isComplete === undefined ? '' : `,"complete":${isComplete}`;
  return `{"${plural}":[${rows.join(',')}],"next_cursor":${JSON.stringify(nextCursor)}${complete}}`;
}

/** Returns epoch milliseconds, or undefined if the parameter is absent. */
export function timeOf(query: Readonly<Record<string, unknown>>, name: string): number | undefined {
  const text = query[name];
  if (typeof text !== 'string') return undefined;
  const time = parseTime(text);
  if (time !== null) return time;
  const problem = [reason('issue_not_time')];
  const issue = { path: `/${name}`, message: reasonsText(problem), reasons: problem };
  const why = reason('request_issue', { place: `query/${name}`, problem });
  throw new RequestRefused(failure('body_invalid', why, { issues: [issue] }));
}
