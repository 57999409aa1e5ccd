import type { ListRunsOptions } from '@patchboard/client';
import {
  RUN_OUTCOMES,
  shownRunOutcome,
  type RunOutcomeName,
  type RunView,
  type ShownRunOutcome,
} from '@patchboard/wire';
import { Option, type Command } from 'commander';
import { connect, withServerOptions, type CliContext, type ServerOptions } from '../context.ts';
import { pastMoment, SINCE } from '../duration.ts';
import { nextPageCommand } from '../next-page.ts';
import { cell, keepColumns, type Colour } from '../output.ts';
import { readRows } from '../page-reader.ts';
import type { Registrar } from '../program.ts';
import { wholeNumber } from '../flag-values.ts';
import { shortTime } from './calls-list.ts';
import { showRun, type ShowFlags } from './runs-show.ts';

interface ListFlags extends ServerOptions {
  readonly agent?: string;
  readonly outcome?: RunOutcomeName;
  readonly since?: string;
  readonly until?: string;
  readonly limit: string;
  readonly cursor?: string;
}

const DEFAULT_LIMIT = '20';
const DEFAULT_CALLS = '200';

const SHOW_HELP = `
The calls of sub-agents are below the call that started them. A call that waited
for approval, input or long for a slot has a line with it. In the bar ░ is time
before the call ran, █ is time that it ran; the bar covers the time of all
calls. A narrow terminal gets no bar.

Example:
  $ patchboard runs show run_…`;

export function runsCommand(context: CliContext): Registrar {
  return (program) => {
    const runs = program.command('runs').description('list, show and cancel runs');
    registerList(runs, context);
    withServerOptions(runs.command('show'))
      .description('show a run with its calls as a tree, oldest first')
      .argument('<id>', 'id of the run')
      .option('--limit <count>', 'maximum number of calls', DEFAULT_CALLS)
      .addHelpText('after', SHOW_HELP)
      .action((id: string, flags: ShowFlags) => showRun(context, id, flags));
    withServerOptions(runs.command('cancel'))
      .description('cancel all calls of a run; no call can join it afterwards')
      .argument('<id>', 'id of the run')
      .addHelpText('after', '\nExample:\n  $ patchboard runs cancel run_…')
      .action((id: string, flags: ServerOptions) => cancel(context, id, flags));
  };
}

function registerList(runs: Command, context: CliContext): void {
  withServerOptions(runs.command('ls', { isDefault: true }))
    .description('list runs with the counts of their calls, newest first (default)')
    .option('--agent <id>', 'only runs of this agent')
    .addOption(
      new Option(
        '--outcome <outcome>',
        'only runs with this outcome; running: also runs whose open calls wait',
      ).choices(RUN_OUTCOMES),
    )
    .option('--since <time>', SINCE)
    .option('--until <time>', 'created before: the same forms')
    .option('--limit <count>', 'maximum number of runs', DEFAULT_LIMIT)
    .option('--cursor <cursor>', 'start here: printed below a list that has more')
    .addHelpText(
      'after',
      '\nThe calls of a run are in: patchboard runs show ID\n\nExamples:\n  $ patchboard runs ls --since 1h\n  $ patchboard runs ls --outcome failed',
    )
    .action((flags: ListFlags) => list(context, flags));
}

async function list(context: CliContext, flags: ListFlags): Promise<void> {
  const { output } = context;
  const limit = wholeNumber('--limit', flags.limit, 1);
  const filter = filterOf(flags, Date.now());
  const client = await connect(context, flags);
  const { rows, nextCursor } = await readRows(limit, flags.cursor ?? null, (size, at) =>
    client.runs.list({ ...filter, limit: size }).page(at),
  );
  if (flags.json === true) return output.json({ runs: rows, next_cursor: nextCursor });
  if (rows.length === 0) output.note('no runs');
  else printRuns(context, rows, flags.since !== undefined || flags.until !== undefined);
  if (nextCursor === null) return;
  const { json: _json, limit: given, ...rest } = flags;
  const next = { ...rest, ...(given === DEFAULT_LIMIT ? {} : { limit: given }), cursor: nextCursor };
  output.note(`more: ${nextPageCommand(['runs', 'ls'], [], next)}`);
}

function filterOf({ agent, outcome, since, until }: ListFlags, now: number): ListRunsOptions {
  return {
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(since === undefined ? {} : { since: pastMoment('--since', since, now) }),
    ...(until === undefined ? {} : { until: pastMoment('--until', until, now) }),
  };
}

function printRuns({ output }: CliContext, runs: readonly RunView[], namesTime: boolean): void {
  output.table(
    keepColumns(new Set(namesTime ? ['CREATED'] : []), [
      { title: 'CREATED', dropOrder: 2 },
      { title: 'ID' },
      { title: 'OUTCOME' },
      { title: 'CALLS' },
      { title: 'OPEN', dropOrder: 3 },
      { title: 'FAILED' },
      { title: 'AGENT' },
      { title: 'LAST ENDED', dropOrder: 1 },
    ]),
    runs.map((run) => [
      shortTime(run.created_at),
      cell(run.run_id),
      outcomeCell(output, run),
      String(run.calls?.total ?? ''),
      String(run.calls?.open ?? ''),
      String(run.calls?.failed ?? ''),
      cell(run.agent_id),
      shortTime(run.calls?.last_ended_at ?? null),
    ]),
  );
}

export function outcomeCell(output: CliContext['output'], run: RunView): string {
  const shown = shownRunOutcome(run);
  return shown === null ? '' : output.paint(outcomeColour(shown), cell(shown));
}

function outcomeColour(outcome: ShownRunOutcome): Colour {
  switch (outcome) {
    case 'completed':
      return 'green';
    case 'failed':
      return 'red';
    case 'running':
    case 'waiting':
      return 'yellow';
    default:
      return 'dim';
  }
}

async function cancel(context: CliContext, id: string, flags: ServerOptions): Promise<void> {
  await (await connect(context, flags)).runs.cancel(id);
  if (flags.json === true) context.output.json({ run_id: id });
  else context.output.data(`${cell(id)} cancelled`);
}
