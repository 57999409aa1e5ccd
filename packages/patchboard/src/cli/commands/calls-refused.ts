import type { PatchboardClient } from '@patchboard/client';
import { queryTerm, withQueryTerm, type QueryKeyName, type RefusedCallView } from '@patchboard/wire';
import type { GivenQuery } from '../call-query.ts';
import type { CliContext } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import { requireKnownIds } from '../known-ids.ts';
import { cell, keepColumns } from '../output.ts';
import { readRows } from '../page-reader.ts';
import { noteRest, shortTime, type ListFlags } from './calls-list.ts';

interface RefusedList {
  readonly words: readonly string[];
  readonly flags: ListFlags;
  readonly query: GivenQuery | null;
  readonly limit: number;
}

/** Lists requests that were refused before a call was recorded. */
export async function listRefused(
  context: CliContext,
  client: PatchboardClient,
  { words, flags, query, limit }: RefusedList,
): Promise<void> {
  const { output } = context;
  const text = refusedQuery(query?.text ?? '', flags);
  const read = await readRows(limit, flags.cursor ?? null, (size, at) =>
    client.refusedCalls({ query: text, limit: size }).page(at),
  );
  if (read.rows.length === 0) await requireKnownIds(client, query?.query ?? {});
  if (flags.json === true)
    return output.json({ refused_calls: read.rows, next_cursor: read.nextCursor, complete: read.isComplete });
  if (read.rows.length === 0) output.note('no refused requests');
  else printRefused(context, read.rows, query?.query.traceId !== undefined);
  noteRest(context, words, flags, read);
}

/** The query without `state:refused`, with the flags as terms. */
function refusedQuery(text: string, flags: ListFlags): string {
  for (const name of ['run', 'status', 'sort', 'order'] as const)
    if (flags[name] !== undefined)
      throw new UsageError(`--${name} is for calls, and a refused request made no call`);
  const terms = (['tool', 'agent', 'since', 'until'] satisfies QueryKeyName[]).flatMap((key) => {
    const value = flags[key];
    return value === undefined ? [] : [queryTerm(key, [value])];
  });
  return [withQueryTerm(text, 'state', null), ...terms].join(' ').trim();
}

function printRefused(
  { output }: CliContext,
  refused: readonly RefusedCallView[],
  namesTrace: boolean,
): void {
  output.table(
    keepColumns(new Set(namesTrace ? ['TRACE'] : []), [
      { title: 'AT' },
      { title: 'CODE' },
      { title: 'TOOL' },
      { title: 'AGENT' },
      { title: 'TRACE', dropOrder: 1 },
      { title: 'MESSAGE', flexible: true },
    ]),
    refused.map((one) => [
      shortTime(one.at),
      output.paint('red', cell(one.code)),
      cell(one.tool_name),
      cell(one.agent_id),
      cell(one.trace_id ?? ''),
      cell(one.message),
    ]),
  );
}
