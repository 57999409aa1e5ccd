import type {
  CallMetricsView,
  MetricGroupName,
  MetricPointView,
  MetricSeriesView,
  PercentilesView,
  RefusedCallView,
  RunCallsView,
} from '@patchboard/wire';
import { boolean, listOf, nullable, number, object, record, string, word, type Decoder } from './decode.ts';

/** Numbers by name; names of a newer server are kept. */
function countsOf<T extends Readonly<Record<string, number>>>(): Decoder<T> {
  return (value, path) => {
    for (const [name, count] of Object.entries(record(value, path))) number(count, `${path}.${name}`);
    return value as T;
  };
}

const percentiles: Decoder<PercentilesView> = object<PercentilesView>({
  p50: number,
  p95: number,
  p99: number,
  max: number,
});

const point: Decoder<MetricPointView> = object<MetricPointView>({
  at: number,
  count: number,
  failed: number,
  ran_ms: nullable(percentiles),
  waited_ms: nullable(percentiles),
});

const series: Decoder<MetricSeriesView> = object<MetricSeriesView>({
  key: string,
  count: number,
  failed: number,
  outcomes: countsOf<Record<string, number>>(),
  codes: countsOf<Record<string, number>>(),
  ran_ms: nullable(percentiles),
  waited_ms: nullable(percentiles),
  points: listOf(point),
});

export const decodeCallMetrics: Decoder<CallMetricsView> = object<CallMetricsView>({
  since: number,
  until: number,
  bucket_s: number,
  by: nullable(word<MetricGroupName>()),
  complete: boolean,
  series: listOf(series),
  more: number,
});

export const decodeRefusedCall: Decoder<RefusedCallView> = object<RefusedCallView>({
  seq: number,
  at: string,
  agent_id: string,
  tool_name: string,
  code: string,
  message: string,
  trace_id: nullable(string),
});

export const decodeRunCalls: Decoder<RunCallsView> = object<RunCallsView>({
  total: number,
  open: number,
  failed: number,
  by_state: countsOf<Record<string, number>>(),
  last_ended_at: nullable(string),
});
