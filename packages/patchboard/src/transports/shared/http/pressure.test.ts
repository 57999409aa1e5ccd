import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fastify } from 'fastify';
import { describe, expect, it } from 'vitest';
import { resolveHttpLimits } from './http-limits.ts';
import { refuseUnderPressure } from './pressure.ts';

/** Holds the event loop, as work that should not be there would. */
function hold(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('refuseUnderPressure', () => {
  it('refuses with 503 while the event loop is late, keeps health and the console open, and recovers', async () => {
    const app = fastify();
    app.decorateRequest('refusal', null);
    refuseUnderPressure(app, resolveHttpLimits({ eventLoopDelayMs: 400 }));
    app.get('/work', () => 'done');
    app.get('/healthz', () => 'ok');
    app.get('/ui/*', () => 'a file');
    await app.listen({ port: 0, host: '127.0.0.1' });
    try {
      expect((await app.inject('/work')).statusCode).toBe(200);
      hold(1500);
      // The watch looks as soon as the loop turns again, before anything that arrived meanwhile.
      await pause(0);
      const refused = await app.inject('/work');
      expect(refused.statusCode).toBe(503);
      expect(refused.headers['retry-after']).toBe('1');
      expect(refused.json()).toMatchObject({ code: 'overloaded', retryable: true });
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
});
