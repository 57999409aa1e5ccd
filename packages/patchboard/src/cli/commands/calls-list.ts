import type { CallsFilter, PatchboardClient } from '@patchboard/client';
import {
  isRefusedName,
  type CallOrderName,
  type CallSortName,
  type CallStateName,
  type CallView,
} from '@patchboard/wire';
import { queryOf, type GivenQuery } from '../call-query.ts';
import { connect, type CliContext, type ServerOptions } from '../context.ts';
import { durationCell } from '../duration.ts';
import { requireKnownIds } from '../known-ids.ts';
import { nextPageCommand } from '../next-page.ts';
import { cell, keepColumns, type Colour } from '../output.ts';
import { readRows, type ReadRows } from '../page-reader.ts';
import { wholeNumber } from '../flag-values.ts';
import { filterOf, groupTerm, namedColumns } from './calls-filter.ts';
import { listRefused } from './calls-refused.ts';

export interface ListFlags extends ServerOptions {
  readonly query?: string;
  readonly sort?: CallSortName;
  readonly order?: CallOrderName;
  readonly run?: string;
  readonly tool?: string;
  readonly agent?: string;
  readonly status?: string;
  readonly state?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: string;
  readonly cursor?: string;
}

/** Below the list: the index of the search lags behind the store for a moment after calls, and longer after an upgrade. */
export const NOT_COMPLETE = 'the newest calls may be missing: the search index is being updated';

export async function listCalls(
  context: CliContext,
  words: readonly string[],
  flags: ListFlags,
): Promise<void> {
  const { output } = context;
  const limit = wholeNumber('--limit', flags.limit, 1);
  const now = Date.now();
  const query = queryOf([...words, ...groupTerm(flags.state)], flags.query, now);
  const filter = filterOf(flags, now);
  const client = await connect(context, flags);
  if (query?.query.isRefused === true || isRefusedName(flags.state ?? ''))
    return listRefused(context, client, { words, flags, query, limit });
  const read = await readCalls(client, filter, query, { limit, cursor: flags.cursor ?? null });
  if (read.rows.length === 0) await requireKnownIds(client, { ...query?.query, ...filter });
  if (flags.json === true)
    return output.json({ tool_calls: read.rows, next_cursor: read.nextCursor, complete: read.isComplete });
  if (read.rows.length === 0) output.note('no calls');
  else printCalls(context, read.rows, namedColumns(query?.text ?? '', flags));
  noteRest(context, words, flags, read);
}

function readCalls(
  client: PatchboardClient,
  filter: CallsFilter,
  query: GivenQuery | null,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | null },
): Promise<ReadRows<CallView>> {
  const search = query === null ? {} : { query: query.text };
  return readRows(limit, cursor, (size, at) => client.calls({ ...filter, ...search, limit: size }).page(at));
}

/** Notes that rows may be missing, and prints the command of the next page. */
export function noteRest(
  { output }: CliContext,
  words: readonly string[],
  flags: ListFlags,
  { nextCursor, isComplete }: Pick<ReadRows<unknown>, 'nextCursor' | 'isComplete'>,
): void {
  if (!isComplete) output.note(NOT_COMPLETE);
  if (nextCursor === null) return;
  const { json: _json, limit, ...rest } = flags;
  const given = { ...rest, ...(limit === DEFAULT_LIMIT ? {} : { limit }), cursor: nextCursor };
  output.note(`more: ${nextPageCommand(['calls', 'ls'], words, given)}`);
}

export const DEFAULT_LIMIT = '20';

function printCalls({ output }: CliContext, calls: readonly CallView[], named: ReadonlySet<string>): void {
  // Absent if only one node can use the store.
  const hasNodes = calls.some(({ node }) => node !== undefined);
  output.table(
    keepColumns(named, [
      { title: 'CREATED', dropOrder: 4 },
      { title: 'ID' },
      { title: 'STATE' },
      { title: 'CODE' },
      ...(hasNodes ? [{ title: 'NODE', dropOrder: 3 }] : []),
      { title: 'WAITED', dropOrder: 2 },
      { title: 'RAN', dropOrder: 5 },
      { title: 'TOTAL', dropOrder: 2 },
      { title: 'TOOL' },
      { title: 'AGENT', dropOrder: 6 },
      { title: 'RUN', dropOrder: 1 },
    ]),
    calls.map((call) => [
      timeOf(call.created_at),
      cell(call.tool_call_id),
      output.paint(colourOf(call.state), cell(call.state)),
      cell(call.error?.code ?? ''),
      ...(hasNodes ? [String(call.node ?? '')] : []),
      durationCell(call.waited_ms),
      durationCell(call.ran_ms),
      durationCell(call.duration_ms),
      cell(call.tool_name),
      cell(call.agent_id),
      cell(call.run_id),
    ]),
  );
}

export function timeOf(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString().replace('T', ' ').replace('.000Z', 'Z');
}

/** RFC 3339 in whole seconds, as `timeOf` writes it. */
export function shortTime(rfc3339: string | null): string {
  return rfc3339 === null ? '' : timeOf(Math.floor(Date.parse(rfc3339) / 1000));
}

/** Marks an expired approval, whose state is DENIED although no operator denied it. */
export function stateText({ state, error }: CallView): string {
  return error?.code === 'approval_expired' ? `${state} (expired)` : state;
}

export function colourOf(state: CallStateName): Colour {
  switch (state) {
    case 'COMPLETED':
      return 'green';
    case 'FAILED':
    case 'TIMED_OUT':
    case 'DENIED':
    case 'SEALED':
      return 'red';
    case 'APPROVAL_REQUIRED':
    case 'INPUT_REQUIRED':
      return 'yellow';
    default:
      return 'dim';
  }
}
