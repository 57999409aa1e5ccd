import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { describe, expect, it } from 'vitest';
import { EventStream } from './streams.ts';

class FakeSocket extends EventEmitter {
  writableNeedDrain = true;
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
  }
}

function aStream(): { raw: FakeSocket; stream: EventStream } {
  const raw = new FakeSocket();
  return { raw, stream: new EventStream({ raw } as unknown as FastifyReply, 1000) };
}

describe('a stream with a slow client', () => {
  it('has at most one drain listener', async () => {
    const { raw, stream } = aStream();
    for (let round = 0; round < 20; round += 1) {
      const wait = stream.drained();
      expect(stream.drained()).toBe(wait);
      expect(raw.listenerCount('drain')).toBe(1);
      raw.emit('drain');
      await wait;
      expect(raw.listenerCount('drain')).toBe(0);
    }
    expect(raw.listenerCount('close')).toBe(1);
  });

  it('stops waiting when the client disconnects', async () => {
    const { raw, stream } = aStream();
    const wait = stream.drained();
    raw.emit('close');
    await wait;
    expect(raw.listenerCount('drain')).toBe(0);
    expect(stream.drained()).toBeNull();
  });

  it('can be cut off, once', async () => {
    const { raw, stream } = aStream();
    const wait = stream.drained();
    let closed = 0;
    stream.onClose(() => (closed += 1));
    stream.cutOff();
    stream.cutOff();
    await wait;
    expect([raw.destroyed, stream.isOpen, closed]).toEqual([true, false, 1]);
  });
});
