import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeDigest } from '../../runtime/digest.ts';
import { nodeClock } from '../../runtime/node-clock.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { EventLog } from './event-log.ts';
import { CHANNELS, type AgentEvent, type AgentEventBody, type Channel } from './events.ts';
import { Journal } from '../memory/journal.ts';
import { ActiveWork } from '../active-work.ts';

/** One step: an event is emitted, another entry is written, or a subscription begins. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('emit' as const), channel: fc.constantFrom(...CHANNELS) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'message' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'turn' as const }) },
  // Any step may occur between any two steps of a reader.
  { weight: 4, arbitrary: fc.constant({ kind: 'tick' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('join' as const),
      /** How many events before the newest the subscription starts. */
      back: fc.nat({ max: 20 }),
      channels: fc.subarray([...CHANNELS], { minLength: 1 }),
    }),
  },
);

function body(channel: Channel, n: number): AgentEventBody {
  switch (channel) {
    case 'progress':
      return { channel, type: 'text_delta', delta: String(n) };
    case 'control':
      return { channel, type: 'permission_decided', callId: String(n), decision: 'allow', decidedBy: 'x' };
    case 'monitor':
      return { channel, type: 'error', message: String(n), code: 'internal' };
  }
}

const numberOf = (event: AgentEvent): number => {
  if (event.type === 'text_delta') return Number(event.delta);
  if (event.type === 'permission_decided') return Number(event.callId);
  if (event.type === 'error') return Number(event.message);
  throw new Error(event.type);
};

interface Heard {
  readonly since: number;
  readonly channels: readonly Channel[];
  readonly seen: readonly AgentEvent[];
}

const log = { info: () => {}, warn: () => {}, error: () => {} };
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the events of an agent', () => {
  it('reach a subscription that begins at any time and from any bookmark, once and in order, including live events', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.nat({ max: 12 }), async (story, pause) => {
        const journal: Journal = new Journal(memoryStore({ digest: nodeDigest }), 'run_1', 0, (entry) =>
          events.deliver(entry),
        );
        const activeWork = new ActiveWork(nodeClock, 1000);
        const unused = (): never => expect.unreachable();
        const callbacks = { decide: unused, respondInput: unused };
        const events = new EventLog({ clock: nodeClock, log, activeWork, ...callbacks }, journal);
        const emitted: { n: number; channel: Channel }[] = [];
        const live: number[] = [];
        for (const type of ['text_delta', 'permission_decided', 'error'] as const)
          events.on(type, (event) => live.push(numberOf(event)));
        const tellAll = (channel: Channel): void => {
          events.emit(body(channel, emitted.length));
          emitted.push({ n: emitted.length, channel });
        };
        /** Reads until it has received the last event of each of its channels. */
        const listen = async (since: number, channels: readonly Channel[]): Promise<Heard> => {
          const seen: AgentEvent[] = [];
          let left = channels.length;
          for await (const event of events.subscribe({ since, channels })) {
            seen.push(event);
            if (last.has(numberOf(event)) && --left === 0) break;
          }
          return { since, channels, seen };
        };
        const last = new Set<number>();
        const listeners: Promise<Heard>[] = [];
        for (const one of story) {
          if (one.kind === 'emit') tellAll(one.channel);
          else if (one.kind === 'message') journal.note({ kind: 'message', body: '{}' });
          else if (one.kind === 'turn') await nextTurn();
          else if (one.kind === 'tick') await Promise.resolve();
          else listeners.push(listen(Math.max(0, journal.last - one.back), one.channels));
        }
        for (const channel of CHANNELS) {
          for (let ticks = 0; ticks < pause; ticks += 1) await Promise.resolve();
          last.add(emitted.length);
          tellAll(channel);
        }
        const { seen: all } = await listen(0, CHANNELS);
        expect(all.map(numberOf)).toEqual(emitted.map(({ n }) => n));
        expect(live).toEqual(emitted.map(({ n }) => n));
        for (const { since, channels, seen } of await Promise.all(listeners)) {
          expect(seen).toEqual(
            all.filter(({ bookmark, channel }) => bookmark > since && channels.includes(channel)),
          );
        }
      }),
      { numRuns: 300 },
    );
  });
});
