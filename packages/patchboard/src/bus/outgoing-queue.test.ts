import { describe, expect, it } from 'vitest';
import { OutgoingQueue } from './outgoing-queue.ts';

function revisionsIn(queue: OutgoingQueue): number[] {
  return queue.take().map(({ text }) => (JSON.parse(text) as { revision: number }).revision);
}

describe('the queue of outgoing notifications', () => {
  it('returns what was added in order, once', () => {
    const queue = new OutgoingQueue(1);
    for (const revision of [1, 2, 3]) queue.add('all', { kind: 'config', revision });
    expect([revisionsIn(queue), revisionsIn(queue), queue.size]).toEqual([[1, 2, 3], [], 0]);
  });

  it('keeps no more than its limit, and drops the oldest', () => {
    const queue = new OutgoingQueue(1, 10);
    for (let revision = 1; revision <= 95; revision += 1) {
      queue.add('all', { kind: 'config', revision });
      expect(queue.size).toBeLessThan(20);
    }
    expect(queue.takeDropped()).toBe(85);
    expect(queue.takeDropped()).toBe(0);
    expect(revisionsIn(queue)).toEqual([86, 87, 88, 89, 90, 91, 92, 93, 94, 95]);
  });

  it('takes nothing that a node sends to itself', () => {
    const queue = new OutgoingQueue(1);
    queue.add(1, { kind: 'grown' });
    queue.add(2, { kind: 'grown' });
    expect(queue.take()).toEqual([{ to: 2, text: '{"from":1,"kind":"grown"}' }]);
  });
});
