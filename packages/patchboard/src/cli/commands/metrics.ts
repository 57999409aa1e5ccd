import {
  METRIC_GROUPS,
  type CallMetricsView,
  type MetricGroupName,
  type MetricSeriesView,
} from '@patchboard/wire';
import { Option } from 'commander';
import { queryOf } from '../call-query.ts';
import { connect, withServerOptions, type CliContext, type ServerOptions } from '../context.ts';
import { durationCell, pastMoment, SINCE } from '../duration.ts';
import { cell } from '../output.ts';
import type { Registrar } from '../program.ts';
import { withQueryWords } from '../query-words.ts';
import { NOT_COMPLETE, timeOf } from './calls-list.ts';

interface MetricsFlags extends ServerOptions {
  readonly by?: MetricGroupName;
  readonly query?: string;
  readonly since: string;
  readonly until?: string;
}

const HELP = `
Counts calls that ended in that time and requests that were refused. FAILED are
those that did not complete. Times are those that calls ran; WAIT is the time
before. Percentiles are at most 5 % too high. The time is extended to whole
minutes, or to whole hours if --since is more than two days ago. A query has the
keys tool and agent only.

Examples:
  $ patchboard metrics --by tool
  $ patchboard metrics agent:planner --by code --since 7d`;

export function metricsCommand(context: CliContext): Registrar {
  return (program) => {
    withQueryWords(withServerOptions(program.command('metrics')))
      .description('show counts, failures and run times of calls')
      .argument('[query...]', 'which calls, such as tool:weather.* agent:planner')
      .option('--query <query>', 'the same as an option')
      .addOption(new Option('--by <what>', 'one row for each of these').choices(METRIC_GROUPS))
      .option('--since <time>', SINCE, '1h')
      .option('--until <time>', 'before: the same forms (default: now)')
      .addHelpText('after', HELP)
      .action((words: string[], flags: MetricsFlags) => metrics(context, words, flags));
  };
}

async function metrics(context: CliContext, words: readonly string[], flags: MetricsFlags): Promise<void> {
  const { output } = context;
  const now = Date.now();
  const query = queryOf(words, flags.query, now, 'metrics');
  const client = await connect(context, flags);
  const view = await client.callMetrics({
    since: momentText('--since', flags.since, now),
    ...(flags.until === undefined ? {} : { until: momentText('--until', flags.until, now) }),
    ...(flags.by === undefined ? {} : { by: flags.by }),
    ...(query === null ? {} : { query: query.text }),
  });
  if (flags.json === true) return output.json(view);
  // The last minute or hour may not have passed yet.
  output.note(`${timeOf(view.since)} to ${timeOf(Math.min(view.until, Math.ceil(now / 1000)))}`);
  if (view.series.length === 0) output.note('no calls in that time');
  else printSeries(context, view);
  if (view.more > 0) output.note(`${view.more} more are left out`);
  if (!view.complete) output.note(NOT_COMPLETE);
}

/** Checks a time. The server reads the text itself, so that `1h` is an hour by its clock. */
function momentText(flag: string, given: string, now: number): string {
  pastMoment(flag, given, now);
  return given.trim();
}

function printSeries({ output }: CliContext, { by, series }: CallMetricsView): void {
  output.table(
    [
      { title: (by ?? 'all').toUpperCase() },
      { title: 'CALLS' },
      { title: 'FAILED' },
      { title: 'P50' },
      { title: 'P95' },
      { title: 'P99', dropOrder: 2 },
      { title: 'MAX' },
      { title: 'WAIT P95', dropOrder: 1 },
    ],
    series.map((one) => rowOf(one)),
  );
}

function rowOf({ key, count, failed, ran_ms: ran, waited_ms: waited }: MetricSeriesView): string[] {
  const share = count === 0 ? 0 : (failed / count) * 100;
  return [
    key === '' ? '-' : cell(key),
    String(count),
    failed === 0 ? '0' : `${failed} (${share < 10 ? share.toFixed(1) : Math.round(share)} %)`,
    durationCell(ran?.p50),
    durationCell(ran?.p95),
    durationCell(ran?.p99),
    durationCell(ran?.max),
    durationCell(waited?.p95),
  ];
}
