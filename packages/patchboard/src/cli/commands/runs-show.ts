import { runningCalls, type CallView, type RunView } from '@patchboard/wire';
import { callTree, type TreeCall } from '../call-tree.ts';
import { waitsText } from '../call-waits.ts';
import { connect, type CliContext, type ServerOptions } from '../context.ts';
import { durationCell } from '../duration.ts';
import { cell, layOut } from '../output.ts';
import { readRows } from '../page-reader.ts';
import { widthOf } from '../terminal-text.ts';
import { barOf, spanOf, spanText } from '../waterfall.ts';
import { wholeNumber } from '../flag-values.ts';
import { colourOf, NOT_COMPLETE } from './calls-list.ts';
import { outcomeCell } from './runs.ts';

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
  const limit = wholeNumber('--limit', flags.limit, 1);
  const client = await connect(context, flags);
  let run: RunView | null = null;
  const { rows, nextCursor, isComplete } = await readRows(limit, null, async (size, cursor) => {
    const page = await client.runs.page(id, { order: 'asc', limit: size, cursor });
    run ??= page.run;
    return page.calls;
  });
  if (run === null) return;
  if (flags.json === true)
    return output.json({ ...(run as RunView), tool_calls: rows, next_cursor: nextCursor });
  printRun(context, run, rows);
  if (!isComplete) output.note(NOT_COMPLETE);
  if (nextCursor !== null) output.note(`only the first ${rows.length} calls: raise --limit for more`);
}

function printRun(context: CliContext, run: RunView, calls: readonly CallView[]): void {
  const { output } = context;
  const now = Date.now();
  const outcome = outcomeCell(output, run);
  output.data(`${cell(run.run_id)}  ${outcome}`.trimEnd());
  output.facts([
    ['agent', cell(run.agent_id)],
    ['created', cell(run.created_at)],
    ...(run.cancelled_at === null ? [] : [['cancelled', cell(run.cancelled_at)] as const]),
    ...(run.calls === undefined ? [] : [['calls', countsText(run.calls)] as const]),
    ...(calls.length === 0 ? [] : [['time', spanText(spanOf(calls, now))] as const]),
  ]);
  if (calls.length === 0) return;
  output.data('');
  printCalls(context, calls, now);
}

function printCalls({ output }: CliContext, calls: readonly CallView[], now: number): void {
  const tree = callTree(calls);
  const rows = tree.map((one) => rowOf(output, one));
  const waits = tree.map(({ call }) => waitsText(call, now));
  const used = [0, 1, 2, 3].map((at) => Math.max(5, ...rows.map((cells) => widthOf(cells[at] ?? ''))));
  const room = output.columns - used.reduce((sum, each) => sum + each, GAPS);
  const barWidth = room < SHORTEST_BAR ? 0 : Math.min(room, LONGEST_BAR);
  const span = spanOf(calls, now);
  const bars = tree.map(({ call }) => (barWidth === 0 ? [] : [barOf(call, span, barWidth)]));
  const titles = ['CALL', 'STATE', 'RAN', 'ID', ...(barWidth === 0 ? [] : ['TIME'])];
  const [header = '', ...lines] = layOut(
    titles.map((title) => ({ title })),
    rows.map((cells, at) => [...cells, ...(bars[at] ?? [])]),
    Infinity,
  );
  if (room >= 0) output.data(header);
  rows.forEach((cells, at) => {
    const indent = ' '.repeat((cells[0] ?? '').search(/[^ │├└─]/) + 2);
    for (const line of room < 0 ? narrowLines(cells, indent, output.columns) : [lines[at] ?? ''])
      output.data(line);
    if (waits[at] !== '') output.facts([[`${indent}waited`, waits[at] ?? '']]);
  });
}

function countsText(calls: NonNullable<RunView['calls']>): string {
  const { total, open, failed } = calls;
  const running = runningCalls(calls);
  const parts = open === 0 ? '' : ` (${running} running, ${Math.max(open - running, 0)} waiting)`;
  return `${total}, ${open} open${parts}, ${failed} failed`;
}

/** The tree stays readable if the id has a line of its own, and the state too if it does not fit beside the name. */
function narrowLines(
  [call = '', state = '', ran = '', id = '']: readonly string[],
  indent: string,
  width: number,
): string[] {
  const ending = `${state}  ${ran}`.trimEnd();
  const first = `${call}  ${ending}`;
  return [...(widthOf(first) <= width ? [first] : [call, `${indent}${ending}`]), `${indent}${id}`];
}

function rowOf(output: CliContext['output'], { call, prefix }: TreeCall): string[] {
  const code = call.error === null ? '' : ` ${cell(call.error.code)}`;
  return [
    `${prefix}${cell(call.tool_name)}`,
    output.paint(colourOf(call.state), `${cell(call.state)}${code}`),
    durationCell(call.ran_ms),
    cell(call.tool_call_id),
  ];
}
