import { describe, expect, it } from 'vitest';
import type { Queryable, QueryRows } from './connection.ts';
import { LeastBusy } from './least-busy.ts';

/** A connection whose statements end when the test ends them. */
function aConnection(): { queryable: Queryable; sent: string[]; end: () => void } {
  const sent: string[] = [];
  const waiting: (() => void)[] = [];
  const query = <Row extends object>({ name }: { name: string }): Promise<QueryRows<Row>> => {
    sent.push(name);
    return new Promise((resolve, reject) => {
      waiting.push(() => (name === 'failing' ? reject(new Error(name)) : resolve({ rows: [], count: 0 })));
    });
  };
  return { queryable: { query }, sent, end: () => waiting.shift()?.() };
}

describe('LeastBusy', () => {
  it('sends a statement past a slow one, and prefers the first connection', async () => {
    const [first, second] = [aConnection(), aConnection()];
    const both = new LeastBusy([first.queryable, second.queryable]);
    const send = (name: string): Promise<unknown> => both.query({ name, text: '' });
    const slow = send('slow');
    const quick = send('quick');
    second.end();
    await quick;
    const failing = send('failing');
    second.end();
    await expect(failing).rejects.toThrow('failing');
    first.end();
    await slow;
    const last = send('last');
    first.end();
    await last;
    expect([first.sent, second.sent]).toEqual([
      ['slow', 'last'],
      ['quick', 'failing'],
    ]);
  });
});
