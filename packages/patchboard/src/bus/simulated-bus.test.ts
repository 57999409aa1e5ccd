import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { Notification } from '../cluster/notification.ts';
import { nodeClock } from '../runtime/node-clock.ts';
import { SILENT_LOG } from '../runtime/silent-log.ts';
import { describeBus } from './bus.contract.ts';
import { SimulatedNetwork, type NetworkFaults } from './simulated-bus.ts';

describeBus('the simulated bus', async () => {
  const networks = new Map<string, SimulatedNetwork>();
  let isDown = false;
  const networkOf = (clusterId: string): SimulatedNetwork => {
    const network = networks.get(clusterId) ?? new SimulatedNetwork({ clock: nodeClock, random: () => 0.5 });
    networks.set(clusterId, network);
    if (isDown) network.stop();
    return network;
  };
  return {
    join: (clusterId, writer, log) => networkOf(clusterId).join(writer, log),
    sendText: async (clusterId, text) => networkOf(clusterId).sendText(0, 'all', text),
    stop: async () => {
      isDown = true;
      for (const network of networks.values()) network.stop();
    },
    start: async () => {
      isDown = false;
      for (const network of networks.values()) network.start();
    },
    close: async () => {},
  };
});

const REVISIONS = 200;

/** Sends revisions 1 to 200 from node 1 to node 2, and returns those that arrive, in their order. */
async function arrivals(faults: Partial<NetworkFaults>, seed = 1): Promise<number[]> {
  const clock = new FakeClock();
  const network = new SimulatedNetwork({ clock, random: seeded(seed) });
  const sender = network.join(1, SILENT_LOG);
  const arrived: number[] = [];
  network.join(2, SILENT_LOG).listen((notification: Notification) => {
    if (notification.kind === 'config') arrived.push(notification.revision);
  });
  network.setFaults(faults);
  for (let revision = 1; revision <= REVISIONS; revision += 1)
    sender.send('all', { kind: 'config', revision });
  await clock.advance(1000);
  return arrived;
}

/** A linear congruential generator. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const ALL = Array.from({ length: REVISIONS }, (_, index) => index + 1);

describe('the faults of a simulated network', () => {
  it('are none by default', async () => {
    expect(await arrivals({})).toEqual(ALL);
  });

  it('drop some notifications', async () => {
    const arrived = await arrivals({ drop: 0.5 });
    expect(arrived.length).toBeGreaterThan(0);
    expect(arrived.length).toBeLessThan(REVISIONS);
    expect(await arrivals({ drop: 1 })).toEqual([]);
  });

  it('double some notifications', async () => {
    const arrived = await arrivals({ double: 0.5 });
    expect([...new Set(arrived)]).toEqual(ALL);
    expect(arrived.length).toBeGreaterThan(REVISIONS);
    expect(await arrivals({ double: 1 })).toHaveLength(REVISIONS * 2);
  });

  it('delay notifications, so that they overtake each other', async () => {
    const arrived = await arrivals({ minDelayMs: 0, maxDelayMs: 500 });
    expect(arrived).not.toEqual(ALL);
    expect(arrived.toSorted((a, b) => a - b)).toEqual(ALL);
    expect(await arrivals({ minDelayMs: 1001, maxDelayMs: 1001 })).toEqual([]);
  });

  it('are the same for the same random numbers', async () => {
    const faults = { drop: 0.2, double: 0.2, minDelayMs: 0, maxDelayMs: 100 };
    expect(await arrivals(faults, 7)).toEqual(await arrivals(faults, 7));
    expect(await arrivals(faults, 7)).not.toEqual(await arrivals(faults, 8));
  });

  it('cut single pairs of nodes, also for what is on its way', async () => {
    const clock = new FakeClock();
    const network = new SimulatedNetwork({ clock, random: () => 0.5 });
    const heard: string[] = [];
    const buses = [1, 2, 3].map((writer) => {
      const bus = network.join(writer, SILENT_LOG);
      bus.listen(({ kind }, from) => void heard.push(`${from} to ${writer}: ${kind}`));
      return bus;
    });
    buses[0]?.send('all', { kind: 'grown' });
    network.cut(2, 1);
    buses[1]?.send('all', { kind: 'work' });
    await clock.advance(10);
    expect(heard).toEqual(['1 to 3: grown', '2 to 3: work']);
    network.heal(1, 2);
    buses[0]?.send(2, { kind: 'leaving' });
    await clock.advance(10);
    expect(heard.slice(2)).toEqual(['1 to 2: leaving']);
  });

  it('hold back what arrives at a paused node, and lose what is for a replaced one', async () => {
    const clock = new FakeClock();
    const network = new SimulatedNetwork({ clock, random: () => 0.5 });
    const sender = network.join(1, SILENT_LOG);
    const heard: string[] = [];
    network.join(2, SILENT_LOG).listen(({ kind }) => void heard.push(`before: ${kind}`));
    network.pause(2);
    sender.send(2, { kind: 'grown' });
    await clock.advance(10);
    expect(heard).toEqual([]);
    network.resume(2);
    expect(heard).toEqual(['before: grown']);
    sender.send(2, { kind: 'work' });
    network.join(2, SILENT_LOG).listen(({ kind }) => void heard.push(`after: ${kind}`));
    await clock.advance(10);
    sender.send(2, { kind: 'leaving' });
    await clock.advance(10);
    expect(heard.slice(1)).toEqual(['after: leaving']);
  });
});
