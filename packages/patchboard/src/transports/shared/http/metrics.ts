import type { CallStateName, FailureCode, ToolSourceName } from '@patchboard/wire';
import { Counter, Gauge, Registry } from 'prom-client';
import { attemptsOf, type Call, runsInProcess } from '../../../core/call/call.ts';
import { timesOf } from '../../../core/call/call-times.ts';
import type { Engine } from '../../../core/engine.ts';
import type { Nodes } from '../../../core/nodes.ts';
import type { Store } from '../../../core/ports.ts';
import { registerClusterMetrics } from './cluster-metrics.ts';
import { DurationHistogram } from './duration-histogram.ts';

/** Responses of one route by status. Plain numbers, so that a request costs one addition. */
export class RouteCounter {
  readonly method: string;
  readonly route: string;
  readonly byStatus: Map<number, number> = new Map();

  constructor(method: string, route: string) {
    this.method = method;
    this.route = route;
  }

  count(status: number): void {
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
  }
}

/** The metrics of every server. `docs/reference/metrics.md` is generated from this. */
export const METRICS = {
  patchboard_calls_ended_total: {
    type: 'counter',
    labels: ['state', 'source'],
    help: 'Calls that ended since the server started, by final state and by where the tool runs.',
  },
  patchboard_call_failures_total: {
    type: 'counter',
    labels: ['code', 'source'],
    help: 'Calls that ended badly since the server started, by code (`output_invalid`, `timeout`, …) and by where the tool runs.',
  },
  patchboard_call_duration_seconds: {
    type: 'histogram',
    labels: ['source'],
    help: 'From the record of a call to its end, waiting included.',
  },
  patchboard_call_run_seconds: {
    type: 'histogram',
    labels: ['source'],
    help: 'From the first execution of a call to its end, without the waiting before it; calls that were executed only.',
  },
  patchboard_call_wait_seconds: {
    type: 'histogram',
    labels: ['for'],
    help: 'How long ended calls waited: for a slot, for an operator, or for their client to begin.',
  },
  patchboard_approvals_waiting: {
    type: 'gauge',
    labels: [],
    help: 'Calls of this node that wait for an operator.',
  },
  patchboard_calls_open: { type: 'gauge', labels: [], help: 'Calls of this node that have not ended.' },
  patchboard_calls_waiting: {
    type: 'gauge',
    labels: [],
    help: 'Calls of this node, with server tools, that wait for a slot.',
  },
  patchboard_store_waiting: {
    type: 'gauge',
    labels: [],
    help: 'Writes that wait for the next transaction of the store.',
  },
  patchboard_calls_executing: {
    type: 'gauge',
    labels: [],
    help: 'Calls that execute in this server now.',
  },
  patchboard_refusals_total: {
    type: 'counter',
    labels: ['code'],
    help: 'Problem responses, by failure code.',
  },
  patchboard_http_requests_total: {
    type: 'counter',
    labels: ['method', 'route', 'status'],
    help: 'Responses, by route and status.',
  },
  patchboard_devices_connected: {
    type: 'gauge',
    labels: [],
    help: 'Devices that are connected, or away and expected back.',
  },
  patchboard_streams_open: { type: 'gauge', labels: [], help: 'Server-sent event streams that are open.' },
  patchboard_event_streams_open: {
    type: 'gauge',
    labels: [],
    help: 'Of these, streams of `/v1/events` and of calls. `limits.event_streams` bounds them.',
  },
  patchboard_event_streams_unread_bytes: {
    type: 'gauge',
    labels: [],
    help: 'Bytes of these streams that their clients have not read. `limits.event_streams_unread_bytes` bounds it.',
  },
  patchboard_event_streams_dropped_total: {
    type: 'counter',
    labels: [],
    help: 'Streams of `/v1/events` and of calls that were cut off because they were not read.',
  },
  patchboard_connections_open: { type: 'gauge', labels: [], help: 'Connections that are open, of any kind.' },
  patchboard_connections_turned_away_total: {
    type: 'counter',
    labels: ['how'],
    help: 'Connections `closed` before they authenticated, or `refused` at once, because the limit was reached.',
  },
} as const;

type MetricName = keyof typeof METRICS;

const DURATION = 'patchboard_call_duration_seconds';
const RUN = 'patchboard_call_run_seconds';
const WAIT = 'patchboard_call_wait_seconds';

type WaitsFor = 'slot' | 'approval' | 'client';
type Counted = readonly [labels: Record<string, string>, count: number];
type CountsBySource<Kind> = Map<ToolSourceName, Map<Kind, number>>;

/** Counts that other parts maintain. */
interface Measured {
  readonly store: Pick<Store, 'waitingWrites'>;
  readonly nodes: Nodes;
  readonly streams: { readonly size: number };
  readonly eventStreams: { readonly open: number; readonly unreadBytes: number; readonly dropped: number };
  readonly connections: { readonly open: number; readonly closed: number; readonly refused: number };
}

/** The metrics of `/metrics`, updated by ended calls and by responses. */
export class HttpMetrics {
  readonly #registry: Registry = new Registry();
  readonly #routes: RouteCounter[] = [];
  readonly #refused: Map<FailureCode, number> = new Map();
  readonly #endedBySource: CountsBySource<CallStateName> = new Map();
  readonly #failed: CountsBySource<FailureCode> = new Map();
  readonly #durations: DurationHistogram<ToolSourceName> = new DurationHistogram(DURATION, METRICS[DURATION]);
  readonly #runs: DurationHistogram<ToolSourceName> = new DurationHistogram(RUN, METRICS[RUN]);
  readonly #waits: DurationHistogram<WaitsFor> = new DurationHistogram(WAIT, METRICS[WAIT]);
  readonly #stop: () => void;

  constructor(engine: Engine, { store, nodes, streams, eventStreams, connections }: Measured) {
    this.#stop = engine.onEnded((call: Call) => this.#ended(call));
    this.#counter('patchboard_calls_ended_total', () => bySource(this.#endedBySource, 'state'));
    this.#counter('patchboard_call_failures_total', () => bySource(this.#failed, 'code'));
    this.#gauge('patchboard_calls_open', () => engine.load().open);
    this.#gauge('patchboard_calls_waiting', () => engine.load().waitingForSlot);
    this.#gauge('patchboard_calls_executing', () => engine.load().executing);
    this.#gauge('patchboard_approvals_waiting', () => engine.load().waitingForApproval);
    this.#gauge('patchboard_store_waiting', () => store.waitingWrites?.() ?? 0);
    this.#gauge('patchboard_devices_connected', () => engine.devices.size);
    this.#gauge('patchboard_streams_open', () => streams.size);
    this.#gauge('patchboard_event_streams_open', () => eventStreams.open);
    this.#gauge('patchboard_event_streams_unread_bytes', () => eventStreams.unreadBytes);
    this.#counter('patchboard_event_streams_dropped_total', () => [[{}, eventStreams.dropped]]);
    this.#gauge('patchboard_connections_open', () => connections.open);
    this.#counter('patchboard_connections_turned_away_total', () => [
      [{ how: 'closed' }, connections.closed],
      [{ how: 'refused' }, connections.refused],
    ]);
    this.#counter('patchboard_refusals_total', () => counted(this.#refused, (code) => ({ code })));
    this.#counter('patchboard_http_requests_total', () =>
      this.#routes.flatMap(({ method, route, byStatus }) =>
        counted(byStatus, (status) => ({ method, route, status: String(status) })),
      ),
    );
    registerClusterMetrics(this.#registry, nodes);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  route(method: string, url: string): RouteCounter {
    const counter = new RouteCounter(method, url);
    this.#routes.push(counter);
    return counter;
  }

  refused(code: FailureCode): void {
    this.#refused.set(code, (this.#refused.get(code) ?? 0) + 1);
  }

  async text(): Promise<string> {
    const histograms = [this.#durations, this.#runs, this.#waits].map((histogram) => histogram.text());
    return `${await this.#registry.metrics()}\n${histograms.join('')}`;
  }

  close(): void {
    this.#stop();
  }

  #ended(call: Call): void {
    const { source } = call;
    count(this.#endedBySource, source, call.state.name);
    if ('error' in call.state) count(this.#failed, source, call.state.error.code);
    const times = timesOf(call);
    if (times !== null) {
      this.#durations.add(source, times.totalMs);
      if (attemptsOf(call) > 0) this.#runs.add(source, times.ranMs);
    }
    this.#waited(call);
  }

  #waited(call: Call): void {
    const { timeline } = call;
    for (let index = 1; index < timeline.length; index += 1) {
      const [from, to] = [timeline[index - 1], timeline[index]];
      const what = from === undefined ? null : waitIn(from.state, call);
      if (from === undefined || to === undefined || what === null) continue;
      this.#waits.add(what, to.at - from.at);
    }
  }

  /** Registers a counter whose values are read at each scrape. */
  #counter(name: MetricName, counts: () => readonly Counted[]): void {
    new Counter({
      ...optionsOf(name),
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [labels, value] of counts()) this.inc(labels, value);
      },
    });
  }

  #gauge(name: MetricName, read: () => number): void {
    new Gauge({
      ...optionsOf(name),
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }
}

function count<Kind>(counts: CountsBySource<Kind>, source: ToolSourceName, kind: Kind): void {
  const kinds = counts.get(source) ?? new Map<Kind, number>();
  counts.set(source, kinds);
  kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
}

function bySource<Kind extends string>(counts: CountsBySource<Kind>, label: string): Counted[] {
  return [...counts].flatMap(([source, kinds]) => counted(kinds, (kind) => ({ [label]: kind, source })));
}

function counted<Kind>(
  counts: ReadonlyMap<Kind, number>,
  labels: (kind: Kind) => Record<string, string>,
): Counted[] {
  return [...counts].map(([kind, value]) => [labels(kind), value]);
}

function waitIn(state: CallStateName, call: Call): WaitsFor | null {
  if (state === 'APPROVAL_REQUIRED') return 'approval';
  if (state !== 'PENDING' && state !== 'APPROVED') return null;
  return runsInProcess(call) ? 'slot' : 'client';
}

function optionsOf(name: MetricName): { name: string; help: string; labelNames: string[] } {
  return { name, help: METRICS[name].help, labelNames: [...METRICS[name].labels] };
}
