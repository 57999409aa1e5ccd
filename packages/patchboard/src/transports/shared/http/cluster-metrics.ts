import { Counter, Gauge, type Registry } from 'prom-client';
import {
  haveSameConfig,
  NODE_STATES,
  type NodeMeasures,
  type Nodes,
  type NodeStatus,
} from '../../../core/nodes.ts';

/** Metrics that only a node of several has. `docs/reference/metrics.md` is generated from this. */
export const CLUSTER_METRICS = {
  patchboard_node_info: {
    type: 'gauge',
    labels: ['node', 'epoch', 'version'],
    help: 'The node that responds: always 1.',
  },
  patchboard_nodes: {
    type: 'gauge',
    labels: ['state'],
    help: 'Nodes of the store, by state; `free`: writers that no node holds.',
  },
  patchboard_nodes_same_config: {
    type: 'gauge',
    labels: [],
    help: '1 if all nodes have the same configuration, packs and hooks, otherwise 0.',
  },
  patchboard_node_calls: {
    type: 'gauge',
    labels: ['node'],
    help: 'Open calls that each node holds, as of its last heartbeat.',
  },
  patchboard_node_room: {
    type: 'gauge',
    labels: ['node'],
    help: 'How many more calls each node can run, as of its last heartbeat.',
  },
  patchboard_node_heartbeat_age_seconds: {
    type: 'gauge',
    labels: ['node'],
    help: 'How long ago the node that responds saw the last heartbeat of each node.',
  },
  patchboard_node_takeovers_total: {
    type: 'counter',
    labels: [],
    help: 'Dead nodes that this node has taken over since it started.',
  },
  patchboard_node_calls_taken_over_total: {
    type: 'counter',
    labels: [],
    help: 'Open calls that this node got from dead nodes since it started.',
  },
  patchboard_node_fenced_total: {
    type: 'counter',
    labels: [],
    help: 'How often other nodes have taken this process for dead. It starts again each time.',
  },
  patchboard_bus_connected: {
    type: 'gauge',
    labels: [],
    help: '1 while notifications of other nodes arrive; 0: this node polls the store instead.',
  },
  patchboard_notifications_sent_total: {
    type: 'counter',
    labels: ['kind'],
    help: 'Notifications to other nodes, by kind.',
  },
  patchboard_notifications_received_total: {
    type: 'counter',
    labels: ['kind'],
    help: 'Notifications of other nodes, by kind.',
  },
  patchboard_clock_offset_seconds: {
    type: 'gauge',
    labels: [],
    help: "The database's clock, which all nodes use, minus the clock of this machine.",
  },
} as const;

type MetricName = keyof typeof CLUSTER_METRICS;
type Sample = readonly [labels: Record<string, string>, value: number];

/** Registers the metrics, if several nodes can share the store. Their values are read at each scrape. */
export function registerClusterMetrics(registry: Registry, { list, measures }: Nodes): void {
  if (measures === undefined) return;
  const ofNodes = (name: MetricName, read: (nodes: readonly NodeStatus[]) => readonly Sample[]): void =>
    register(registry, name, async () => read(await list()));
  const own = (name: MetricName, read: (measures: NodeMeasures) => readonly Sample[]): void =>
    register(registry, name, () => read(measures()));
  const each = (nodes: readonly NodeStatus[], read: (node: NodeStatus) => number | null): readonly Sample[] =>
    nodes.flatMap((node) => {
      const value = node.state === 'free' ? null : read(node);
      return value === null ? [] : [[{ node: String(node.writer) }, value] as const];
    });

  ofNodes('patchboard_node_info', (nodes) =>
    nodes
      .filter(({ isSelf }) => isSelf)
      .map(({ writer, epoch, version }) => [
        { node: String(writer), epoch: String(epoch), version: version ?? '' },
        1,
      ]),
  );
  ofNodes('patchboard_nodes', (nodes) =>
    NODE_STATES.map((state) => [{ state }, nodes.filter((node) => node.state === state).length]),
  );
  ofNodes('patchboard_nodes_same_config', (nodes) => [[{}, haveSameConfig(nodes) ? 1 : 0]]);
  ofNodes('patchboard_node_calls', (nodes) => each(nodes, ({ calls }) => calls));
  ofNodes('patchboard_node_room', (nodes) => each(nodes, ({ room }) => room));
  ofNodes('patchboard_node_heartbeat_age_seconds', (nodes) =>
    each(nodes, ({ lastBeatMs }) => (lastBeatMs === null ? null : lastBeatMs / 1000)),
  );
  own('patchboard_node_takeovers_total', ({ takeovers }) => [[{}, takeovers]]);
  own('patchboard_node_calls_taken_over_total', ({ callsTakenOver }) => [[{}, callsTakenOver]]);
  own('patchboard_node_fenced_total', ({ fenced }) => [[{}, fenced]]);
  own('patchboard_bus_connected', ({ isBusConnected }) => [[{}, isBusConnected ? 1 : 0]]);
  own('patchboard_notifications_sent_total', ({ sent }) => byKind(sent));
  own('patchboard_notifications_received_total', ({ received }) => byKind(received));
  own('patchboard_clock_offset_seconds', ({ clockOffsetMs }) => [[{}, clockOffsetMs / 1000]]);
}

function byKind(counts: ReadonlyMap<string, number>): readonly Sample[] {
  return [...counts].map(([kind, value]) => [{ kind }, value]);
}

function register(
  registry: Registry,
  name: MetricName,
  read: () => readonly Sample[] | Promise<readonly Sample[]>,
): void {
  const { type, help, labels } = CLUSTER_METRICS[name];
  const options = { name, help, labelNames: [...labels] as string[], registers: [registry] };
  if (type === 'gauge')
    new Gauge({
      ...options,
      async collect() {
        this.reset();
        for (const [given, value] of await read()) this.set(given, value);
      },
    });
  else
    new Counter({
      ...options,
      async collect() {
        this.reset();
        for (const [given, value] of await read()) this.inc(given, value);
      },
    });
}
