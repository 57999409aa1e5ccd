import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Bus } from '../cluster/bus.ts';
import { NOTIFICATION_BYTES, type Notification } from '../cluster/notification.ts';
import type { Log } from '../core/ports.ts';

/** A running bus server, or what simulates it. */
export interface BusServer {
  join(clusterId: string, writer: number, log: Log): Bus;
  /** Puts a text on the channel of all nodes, as another program could. */
  sendText(clusterId: string, text: string): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

interface Received {
  readonly notification: Notification;
  readonly from: number;
}

/** A node that records what it receives and logs. */
interface TestNode {
  readonly bus: Bus;
  readonly received: Received[];
  readonly logged: string[];
}

const CLUSTER = '5f0c6c1e-6f5e-4c43-9a53-0d6b3f7c0a11';
const OTHER_CLUSTER = '5f0c6c1e-6f5e-4c43-9a53-0d6b3f7c0a12';

/** What every adapter of `Bus` does. */
export function describeBus(name: string, startServer: () => Promise<BusServer>): void {
  describe(name, () => {
    let server: BusServer;
    let buses: Bus[] = [];

    beforeAll(async () => {
      server = await startServer();
    });

    afterEach(async () => {
      await Promise.all(buses.map((bus) => bus.close()));
      buses = [];
    });

    afterAll(async () => {
      await server.close();
    });

    /** Does not wait for the connection. */
    function join(writer: number, clusterId = CLUSTER): TestNode {
      const logged: string[] = [];
      const log: Log = {
        info: (event) => void logged.push(event),
        warn: (event) => void logged.push(event),
        error: (event) => void logged.push(event),
      };
      const bus = server.join(clusterId, writer, log);
      buses.push(bus);
      const received: Received[] = [];
      bus.listen((notification, from) => void received.push({ notification, from }));
      return { bus, received, logged };
    }

    async function joinAll(...writers: number[]): Promise<TestNode[]> {
      const nodes = writers.map((writer) => join(writer));
      await connected(...nodes);
      return nodes;
    }

    async function connected(...nodes: TestNode[]): Promise<void> {
      await waitFor(() => expect(nodes.every(({ bus }) => bus.isConnected)).toBe(true));
    }

    it('delivers to all other nodes, and not to the sender', async () => {
      const [a, b, c] = (await joinAll(1, 2, 3)) as [TestNode, TestNode, TestNode];
      a.bus.send('all', { kind: 'grown' });
      const grown = { notification: { kind: 'grown' }, from: 1 };
      await waitFor(() => expect([b.received, c.received]).toEqual([[grown], [grown]]));
      // Its own notification would have arrived before this reply to it.
      b.bus.send('all', { kind: 'config', revision: 7 });
      const config = { notification: { kind: 'config', revision: 7 }, from: 2 };
      await waitFor(() => expect(a.received).toEqual([config]));
    });

    it('delivers to one node only', async () => {
      const [a, b, c] = (await joinAll(1, 2, 3)) as [TestNode, TestNode, TestNode];
      const wake = {
        kind: 'wake_client',
        tenant: 'acme',
        client: 'till-1',
        call: 'tc_1',
        version: 1,
      } as const;
      a.bus.send(2, wake);
      a.bus.send(1, { kind: 'work' });
      a.bus.send(3, { kind: 'leaving' });
      await waitFor(() => expect(b.received).toEqual([{ notification: wake, from: 1 }]));
      await waitFor(() => expect(c.received).toEqual([{ notification: { kind: 'leaving' }, from: 1 }]));
      c.bus.send(1, { kind: 'grown' });
      await waitFor(() => expect(a.received).toEqual([{ notification: { kind: 'grown' }, from: 3 }]));
    });

    it('delivers every kind, with any text, and a list longer than one notification', async () => {
      const [a, b] = (await joinAll(1, 2)) as [TestNode, TestNode];
      const calls = Array.from({ length: 1000 }, (_, index) => [`tc_${index}_’"\\\n`, index] as const);
      const sent: Notification[] = [
        { kind: 'moved', calls },
        { kind: 'ended', calls: [['tc_9', 4]] },
        { kind: 'rates', spent: [['tenant \u0000 “a”', 2.5]] },
        {
          kind: 'transient',
          tenant: '租户',
          event: { text: 'x'.repeat(NOTIFICATION_BYTES / 2), emoji: '🧯' },
        },
        { kind: 'work' },
      ];
      for (const notification of sent) a.bus.send('all', notification);
      const ofKind = <Kind extends Notification['kind']>(
        kind: Kind,
      ): Extract<Notification, { kind: Kind }>[] =>
        b.received
          .map(({ notification }) => notification)
          .filter((given): given is Extract<Notification, { kind: Kind }> => given.kind === kind);
      await waitFor(() => {
        const moved = ofKind('moved').flatMap((notification) => notification.calls);
        expect(moved.toSorted((one, other) => one[1] - other[1])).toEqual(calls);
        const others = b.received.map(({ notification }) => notification);
        for (const notification of sent.slice(1)) expect(others).toContainEqual(notification);
      });
    });

    it('ends a subscription, and closes once what was sent is delivered', async () => {
      const [a, b] = (await joinAll(1, 2)) as [TestNode, TestNode];
      const ended: Notification[] = [];
      const stop = b.bus.listen((notification) => void ended.push(notification));
      stop();
      a.bus.send('all', { kind: 'leaving' });
      await a.bus.close();
      expect(a.bus.isConnected).toBe(false);
      await waitFor(() => expect(b.received).toHaveLength(1));
      expect(ended).toEqual([]);
      a.bus.send('all', { kind: 'grown' });
      await a.bus.close();
      b.bus.send('all', { kind: 'grown' });
      await b.bus.close();
      expect([a.received, b.received.length]).toEqual([[], 1]);
    });

    it('does not deliver to nodes of another store', async () => {
      const [a, b] = (await joinAll(1, 2)) as [TestNode, TestNode];
      const other = join(3, OTHER_CLUSTER);
      const sameWriter = join(2, OTHER_CLUSTER);
      await connected(other, sameWriter);
      a.bus.send('all', { kind: 'grown' });
      a.bus.send(2, { kind: 'work' });
      await waitFor(() => expect(b.received).toHaveLength(2));
      other.bus.send('all', { kind: 'leaving' });
      await waitFor(() => expect(sameWriter.received).toHaveLength(1));
      expect([other.received, a.received, b.received.length]).toEqual([[], [], 2]);
    });

    it('ignores what is no notification, and reports it once', async () => {
      const [a, b] = (await joinAll(1, 2)) as [TestNode, TestNode];
      for (const text of ['', 'hello', '{"from":1}', '[[[', '{"from":9,"kind":"of a later version"}'])
        await server.sendText(CLUSTER, text);
      a.bus.send('all', { kind: 'grown' });
      await waitFor(() => expect(b.received).toHaveLength(1));
      expect(b.logged.filter((event) => event === 'bus.invalid_notification')).toHaveLength(1);
    });

    it('goes on after a listener has thrown', async () => {
      const [a, b] = (await joinAll(1, 2)) as [TestNode, TestNode];
      const heard: string[] = [];
      b.bus.listen(({ kind }) => {
        heard.push(kind);
        throw new Error('broken');
      });
      a.bus.send('all', { kind: 'grown' });
      a.bus.send('all', { kind: 'work' });
      await waitFor(() => expect(heard).toEqual(['grown', 'work']));
      expect(b.received).toHaveLength(2);
      expect(b.logged).toContain('bus.listener_failed');
    });

    it('survives a stop of the server: nothing throws, and it delivers again when the server is back', async () => {
      const [a, b] = (await joinAll(1, 2)) as [TestNode, TestNode];
      const before = b.bus.connections;
      await server.stop();
      await waitFor(() => expect([a.bus.isConnected, b.bus.isConnected]).toEqual([false, false]));
      a.bus.send('all', { kind: 'work' });
      a.bus.send(2, { kind: 'grown' });
      const late = join(3);
      expect(late.bus.isConnected).toBe(false);
      await server.start();
      await connected(a, b, late);
      // So that a node knows that it may have missed some.
      expect(b.bus.connections).toBeGreaterThan(before);
      a.bus.send('all', { kind: 'config', revision: 1 });
      const config = { notification: { kind: 'config', revision: 1 }, from: 1 };
      await waitFor(() => {
        expect(b.received).toContainEqual(config);
        expect(late.received).toContainEqual(config);
      });
    });

    it('closes while the server is down', async () => {
      const [a] = (await joinAll(1)) as [TestNode];
      await server.stop();
      const late = join(2);
      a.bus.send('all', { kind: 'grown' });
      await Promise.all([a.bus.close(), late.bus.close()]);
      expect([a.bus.isConnected, late.bus.isConnected]).toEqual([false, false]);
      await server.start();
    });
  });
}
