import { SimulatedNetwork as BusNetwork } from '../../src/bus/simulated-bus.ts';
import { ClusterPeers } from '../../src/cluster/cluster-peers.ts';
import type { NodeTable } from '../../src/cluster/node-table.ts';
import type { Call } from '../../src/core/call/call.ts';
import type { Log } from '../../src/core/ports.ts';
import type { Kernel } from './kernel.ts';
import type { Profile } from './profile.ts';
import type { Random } from './random.ts';
import { kernelClock } from './simulated-clock.ts';
import type { StoreConnection } from './simulated-store.ts';

/** The real peers of one process, over the simulated table of nodes and the simulated bus. */
export function simulatedPeers(
  network: BusNetwork,
  connection: StoreConnection,
  table: NodeTable,
  log: Log,
): ClusterPeers {
  const { process } = connection;
  const bus = network.join(table.self.writer, log);
  process.onKilled(() => void bus.close());
  return new ClusterPeers({
    table: simulatedTable(connection, table),
    // What arrives waits while the process is paused.
    bus: {
      send: (to, notification) => bus.send(to, notification),
      listen: (handle) => bus.listen((notification, from) => process.enter(() => handle(notification, from))),
      get isConnected() {
        return bus.isConnected;
      },
      get connections() {
        return bus.connections;
      },
      close: () => bus.close(),
    },
    ledger: { onCommitted: () => {}, grown: () => {} },
    clock: process.clock,
    log,
    store: { onFenced: (listener) => connection.onFenced(listener) },
    version: 'simulated',
  });
}

/** The table as the process reaches it: each method is a request to the database. */
function simulatedTable(connection: StoreConnection, table: NodeTable): NodeTable {
  const request = <Value>(work: () => Promise<Value>): Promise<Value> => connection.transact('table', work);
  return {
    self: table.self,
    beat: (report) => request(() => table.beat(report)),
    takeOver: (node) =>
      request(async () => {
        const ids = await table.takeOver(node);
        if (ids !== null) connection.tookOver(node);
        return ids;
      }),
    takenCalls: () => request(() => table.takenCalls()),
    async *calls(ids): AsyncIterable<Call> {
      yield* await request(() => collected(table.calls(ids)));
    },
    claimOverdue: (...args) => request(() => table.claimOverdue(...args)),
    movedByOthers: () => request(() => table.movedByOthers()),
    places: (ids) => request(() => table.places(ids)),
    waitingFor: (clients) => request(() => table.waitingFor(clients)),
    offer: (calls) => request(() => table.offer(calls)),
    offered: (limit, after) => request(() => table.offered(limit, after)),
    takeOffered: (ids) => request(() => table.takeOffered(ids)),
    claimHome: (run, place) => request(() => table.claimHome(run, place)),
    give: (call, to) => request(() => table.give(call, to)),
    handOver: (preferred) => request(() => table.handOver(preferred)),
    leave: () => request(() => table.leave()),
  };
}

/** The bus between the nodes, with notifications that are delayed, lost, doubled and reordered. */
export function simulatedBus(kernel: Kernel, random: Random, profile: Profile): BusNetwork {
  const stream = random.of('bus');
  const network = new BusNetwork({
    clock: kernelClock(kernel),
    random: () => stream.next(),
  });
  const maxDelayMs = profile.networkDelayMs * 4;
  network.setFaults({ drop: profile.notificationLoss, double: 0.1, minDelayMs: 0.1, maxDelayMs });
  return network;
}

async function collected(calls: AsyncIterable<Call>): Promise<readonly Call[]> {
  const found: Call[] = [];
  for await (const call of calls) found.push(call);
  return found;
}
