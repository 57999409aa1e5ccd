import type { CallView, RunView } from '@patchboard/wire';
import { connect, type CliContext, type ServerOptions } from '../context.ts';
import { cell } from '../output.ts';
import { countOf, readRows } from '../page-reader.ts';
import { callTree, type TreeCall } from '../call-tree.ts';
import { widthOf } from '../terminal-text.ts';
import { barOf, spanOf, spanText } from '../waterfall.ts';
import { colourOf, milliseconds } from './calls-list.ts';
import { outcomeColour } from './runs.ts';

export interface ShowFlags extends ServerOptions {
  readonly limit: string;
}

/** Bars are not shown on a terminal that has less room for them. */
const SHORTEST_BAR = 8;
const LONGEST_BAR = 40;
/** Of the gaps between the columns. */
const GAPS = 8;

export async function showRun(context: CliContext, id: string, flags: ShowFlags): Promise<void> {
  const { output } = context;
  const limit = countOf('--limit', flags.limit);
  const client = await connect(context, flags);
  let run: RunView | null = null;
  const { rows, nextCursor } = await readRows(limit, null, async (size, cursor) => {
    const page = await client.runs.page(id, { order: 'asc', limit: size, cursor });
    run ??= page.run;
    return page.calls;
  });
  if (run === null) return;
  if (flags.json === true)
    return output.json({ ...(run as RunView), tool_calls: rows, next_cursor: nextCursor });
  printRun(context, run, rows);
  if (nextCursor !== null) output.note(`only the first ${rows.length} calls: raise --limit for more`);
}

function printRun(context: CliContext, run: RunView, calls: readonly CallView[]): void {
  const { output } = context;
  const outcome = run.outcome === undefined ? '' : output.paint(outcomeColour(run.outcome), run.outcome);
  output.data(`${cell(run.run_id)}  ${outcome}`.trimEnd());
  output.facts([
    ['agent', cell(run.agent_id)],
    ['created', cell(run.created_at)],
    ...(run.cancelled_at === null ? [] : [['cancelled', cell(run.cancelled_at)] as const]),
    ...(run.calls === undefined ? [] : [['calls', countsText(run.calls)] as const]),
    ...(calls.length === 0 ? [] : [['time', spanText(spanOf(calls, Date.now()))] as const]),
  ]);
  if (calls.length === 0) return;
  output.data('');
  printCalls(context, calls);
}

function printCalls(context: CliContext, calls: readonly CallView[]): void {
  const { output } = context;
  const tree = callTree(calls);
  const rows = tree.map((one) => rowOf(context, one));
  const used = [0, 1, 2, 3].map((at) => Math.max(5, ...rows.map((cells) => widthOf(cells[at] ?? ''))));
  const room = output.columns - used.reduce((sum, each) => sum + each, GAPS);
  if (room < 0) {
    for (const line of rows.flatMap(narrowLines)) output.data(line);
    return;
  }
  const barWidth = room < SHORTEST_BAR ? 0 : Math.min(room, LONGEST_BAR);
  const span = spanOf(calls, Date.now());
  output.table(
    [
      { title: 'CALL' },
      { title: 'STATE' },
      { title: 'RAN' },
      { title: 'ID' },
      ...(barWidth === 0 ? [] : [{ title: 'TIME' }]),
    ],
    rows.map((cells, at) => {
      const call = tree[at]?.call;
      return call === undefined || barWidth === 0 ? cells : [...cells, barOf(call, span, barWidth)];
    }),
  );
}

function countsText({ total, open, failed }: NonNullable<RunView['calls']>): string {
  return `${total}, ${open} open, ${failed} failed`;
}

/** The tree stays readable if the id has a line of its own. */
function narrowLines([call = '', state = '', ran = '', id = '']: readonly string[]): string[] {
  const indent = ' '.repeat(call.search(/[^ │├└─]/));
  return [`${call}  ${state}  ${ran}`.trimEnd(), `${indent}  ${id}`];
}

function rowOf({ output }: CliContext, { call, prefix }: TreeCall): string[] {
  const code = call.error === null ? '' : ` ${cell(call.error.code)}`;
  return [
    `${prefix}${cell(call.tool_name)}`,
    output.paint(colourOf(call.state), `${cell(call.state)}${code}`),
    milliseconds(call.ran_ms),
    cell(call.tool_call_id),
  ];
}
