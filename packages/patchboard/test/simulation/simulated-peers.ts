import { SimulatedNetwork as BusNetwork } from '../../src/bus/simulated-bus.ts';
import type { Notification } from '../../src/cluster/notification.ts';
import type { Call } from '../../src/core/call/call.ts';
import { StorageFull, StorageUnavailable } from '../../src/core/failures.ts';
import type { Log } from '../../src/core/ports.ts';
import type { Peers, WatchedCalls } from '../../src/core/peers.ts';
import { Lease } from './simulated-lease.ts';
import type { SimulatedNodeTable } from './simulated-node-table.ts';
import type { StoreConnection } from './simulated-store.ts';
import type { World } from './world.ts';

type Take = (calls: AsyncIterable<Call>) => Promise<void>;

const POLL_MS = 1000;
const SWEEP_MS = 500;
/** A call is overdue for other nodes this long after its deadline. */
const OVERDUE_MS = 300;

/** The port `Peers` of one process over the simulated node table and bus. */
export function simulatedPeers(world: World, connection: StoreConnection, log: Log): Peers {
  const { process } = connection;
  const { kernel, database } = world;
  const { nodes } = database;
  const self = process.node;
  const bus = world.bus.join(writerOf(self), log);
  process.onKilled(() => void bus.close());
  let take: Take = async () => {};
  let look: (id: string, version: number) => void = () => {};
  let watched: () => WatchedCalls = () => ({ held: [], awaited: [] });
  let wake: (tenant: string, clientId: string, callId: string) => void = () => {};
  let room: () => number = () => 0;
  let canRun: (tenant: string, tool: string, version: string) => boolean = () => false;
  let catchUp: (() => Promise<number>) | null = null;
  let hasLeft = false;
  const attached = new Map<string, number>();

  const run = (work: () => Promise<unknown>): void => {
    work().catch((error: unknown) => {
      if (!(error instanceof StorageUnavailable) && !(error instanceof StorageFull))
        world.problem(`peers of ${process.name}`, error);
    });
  };
  /** Not timers of the process's clock: those are counted. */
  const every = (ms: number, work: () => Promise<unknown>): void => {
    kernel.after(ms, () =>
      process.enter(() => {
        if (hasLeft || lease.isFenced) return;
        run(work);
        every(ms, work);
      }),
    );
  };
  const taking = async (work: (table: SimulatedNodeTable) => Promise<Call[] | null>): Promise<void> => {
    const calls = (await connection.transact(true, () => work(nodes))) ?? [];
    if (calls.length === 0) return;
    bus.send('all', { kind: 'moved', calls: calls.map(({ id, version }) => [id, version]) });
    await take(each(calls));
  };
  const lease = new Lease(
    process,
    connection,
    () => room(),
    (row) => {
      world.history.add(process.name, 'takes over', { node: row.node });
      run(() => taking((table) => table.takeOver(self, row)));
    },
  );
  const compareWatched = async (): Promise<void> => {
    const { held, awaited } = watched();
    const known = new Map([...held, ...awaited].map(({ id, version }) => [id, version]));
    if (known.size === 0) return;
    const versions = await connection.transact(false, () => nodes.versions([...known.keys()]));
    for (const [id, version] of versions) if (version > (known.get(id) ?? 0)) look(id, version);
  };
  const lookForClients = async (): Promise<void> => {
    if (attached.size === 0) return;
    for (const { tenant, clientId, id } of await connection.transact(false, () => nodes.waiting(self)))
      if (clientId !== null && attached.has(`${tenant}/${clientId}`)) wake(tenant, clientId, id);
  };
  const takeGiven = (): Promise<void> => taking((table) => table.callsOf(self, true));
  const takeOffered = async (): Promise<void> => {
    if (room() > 0 && lease.isHeld)
      await taking((table) =>
        table.takeOffered(self, room(), (call) => canRun(call.tenant, call.toolName, call.toolVersion)),
      );
  };
  const received = (notification: Notification): void => {
    switch (notification.kind) {
      case 'moved':
      case 'ended':
        for (const [id, version] of notification.calls) look(id, version);
        return;
      case 'wake_client': {
        const { tenant, client, call } = notification;
        if (attached.has(`${tenant}/${client}`)) wake(tenant, client, call);
        return;
      }
      case 'work':
        run(takeOffered);
        run(takeGiven);
        return;
      case 'config':
        if (catchUp !== null) run(catchUp);
        return;
      default:
        return;
    }
  };
  bus.listen((notification) => process.enter(() => received(notification)));

  return {
    isSingle: false,
    onOrphaned: async (given) => {
      take = given;
      await take(each(await connection.transact(false, () => nodes.callsOf(self, false))));
      lease.start((work, ms) => every(ms, work));
      every(POLL_MS, compareWatched);
      every(POLL_MS, lookForClients);
      every(POLL_MS, takeGiven);
      every(POLL_MS, takeOffered);
      every(SWEEP_MS, () => taking((table) => table.claimOverdue(self, process.clock.now() - OVERDUE_MS)));
    },
    moved: ({ id, version }) => bus.send('all', { kind: 'moved', calls: [[id, version]] }),
    ended: ({ id, version }) => bus.send('all', { kind: 'ended', calls: [[id, version]] }),
    onMoved: (given, of) => {
      look = given;
      watched = of;
    },
    wakeClient: (call) => {
      run(() => connection.transact(true, () => nodes.notDelivered(call)));
      const { tenant, clientId, id } = call;
      if (clientId !== null) bus.send('all', { kind: 'wake_client', tenant, client: clientId, call: id });
    },
    onWakeClient: (given) => {
      wake = given;
    },
    clientAttached: (tenant, clientId) => {
      const key = `${tenant}/${clientId}`;
      attached.set(key, (attached.get(key) ?? 0) + 1);
      return () => {
        const left = (attached.get(key) ?? 1) - 1;
        if (left === 0) attached.delete(key);
        else attached.set(key, left);
      };
    },
    sessionTaken: () => {},
    onSessionTaken: () => {},
    offer: (calls) => {
      run(async () => {
        await connection.transact(true, () => nodes.offer(calls));
        bus.send('all', { kind: 'work' });
      });
    },
    onOffered: (givenRoom, givenCanRun) => {
      room = givenRoom;
      canRun = givenCanRun;
    },
    handOver: async () => {
      hasLeft = true;
      await connection.transact(true, () => nodes.handOver(self));
      bus.send('all', { kind: 'work' });
    },
    runCancelled: () => {},
    onRunCancelled: () => {},
    spent: () => {},
    onSpent: () => {},
    transient: () => {},
    onTransient: () => {},
    announce: async (revision) => bus.send('all', { kind: 'config', revision }),
    onAnnounced: (given) => {
      catchUp = given;
      every(POLL_MS, given);
    },
    hasLease: () => lease.isHeld,
    onFenced: (listener) => connection.onFenced(listener),
  };
}

/** The bus between the nodes, with notifications that are delayed, lost, doubled and reordered. */
export function simulatedBus(world: Pick<World, 'kernel' | 'random' | 'profile'>): BusNetwork {
  const { kernel, random, profile } = world;
  const stream = random.of('bus');
  const network = new BusNetwork({
    clock: {
      now: () => kernel.now,
      elapsed: () => kernel.now,
      after: (ms, action) => kernel.after(ms, action),
      turn: () => kernel.sleep(0),
    },
    random: () => stream.next(),
  });
  const maxDelayMs = profile.networkDelayMs * 4;
  network.setFaults({ drop: profile.notificationLoss, double: 0.1, minDelayMs: 0.1, maxDelayMs });
  return network;
}

function writerOf(node: string): number {
  return Number(node.replace('node-', ''));
}

async function* each(calls: readonly Call[]): AsyncGenerator<Call> {
  yield* calls;
}
