import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fastify } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { Heap } from '../../../core/ports.ts';
import { nodeHeap } from '../../../runtime/node-heap.ts';
import { resolveHttpLimits } from './http-limits.ts';
import { refuseUnderPressure } from './pressure.ts';

/** Blocks the event loop. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('refuseUnderPressure', () => {
  it('refuses with 503 while the event loop is late, keeps health and the console open, and recovers', async () => {
    const app = fastify();
    app.decorateRequest('refusal', null);
    refuseUnderPressure(app, resolveHttpLimits({ eventLoopDelayMs: 400 }), nodeHeap);
    app.get('/work', () => 'done');
    const refuse = { contentType: 'application/json', schema: {}, write: () => '{"jsonrpc":"2.0"}' };
    app.get('/rpc', { config: { refuse } }, () => 'done');
    app.get('/healthz', () => 'ok');
    app.get('/ui/*', () => 'a file');
    await app.listen({ port: 0, host: '127.0.0.1' });
    try {
      expect((await app.inject('/work')).statusCode).toBe(200);
      block(1500);
      // The timer fires first in the next turn, before requests that arrived meanwhile.
      await pause(0);
      const refused = await app.inject('/work');
      expect(refused.statusCode).toBe(503);
      expect(refused.headers['retry-after']).toBe('1');
      expect(refused.json()).toMatchObject({ code: 'overloaded', retryable: true });
      expect((await app.inject('/rpc')).json()).toEqual({ jsonrpc: '2.0' });
      expect((await app.inject('/healthz')).statusCode).toBe(200);
      expect((await app.inject('/ui/assets/index.js')).statusCode).toBe(200);
      let status = 503;
      while (status === 503) {
        await pause(50);
        status = (await app.inject('/work')).statusCode;
      }
      expect(status).toBe(200);
    } finally {
      const closed = once(app.server, 'close');
      await app.close();
      await closed;
    }
  });

  it('refuses with 503 while the heap is nearly full, and recovers', async () => {
    let used = 95;
    const app = fastify();
    app.decorateRequest('refusal', null);
    const heap: Heap = { limitBytes: 100, usedBytes: () => used };
    refuseUnderPressure(app, resolveHttpLimits({ eventLoopDelayMs: 60_000 }), heap);
    app.get('/work', () => 'done');
    await app.ready();
    const statusAfter = async (before: number): Promise<number> => {
      let status = before;
      while (status === before) {
        await pause(50);
        status = (await app.inject('/work')).statusCode;
      }
      return status;
    };
    expect(await statusAfter(200)).toBe(503);
    used = 50;
    expect(await statusAfter(503)).toBe(200);
    await app.close();
  });
});
