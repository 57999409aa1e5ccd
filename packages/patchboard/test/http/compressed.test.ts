import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServer, type TestServer } from './support/a-server.ts';
import { echo } from './support/toy-tools.ts';

const GZIP = { headers: { 'accept-encoding': 'gzip, deflate' } };
const PLAIN = { headers: { 'accept-encoding': 'identity' } };

let server: TestServer;
beforeAll(async () => {
  server = await aServer({ tools: [echo], allowedOrigins: ['https://app.example'] });
});
afterAll(async () => {
  await server.close();
});

describe('a long response', () => {
  it('is compressed for a client that takes it, and is the same for every other', async () => {
    const [compressed, plain] = [
      await server.get('/openapi.json', GZIP),
      await server.get('/openapi.json', PLAIN),
    ];
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(compressed.headers.get('vary')).toBe('accept-encoding');
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(plain.text.length / 4);
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(compressed.text).toBe(plain.text);
  });

  it('is not compressed for a client that refuses it', async () => {
    const { headers } = await server.get('/openapi.json', { headers: { 'accept-encoding': 'gzip;q=0, *' } });
    expect(headers.get('content-encoding')).toBeNull();
  });

  it('names everything that it depends on if another origin may read it', async () => {
    const headers = { ...GZIP.headers, origin: 'https://app.example' };
    const { headers: sent } = await server.get('/openapi.json', { headers });
    expect(sent.get('vary')?.toLowerCase()).toBe('origin, accept-encoding');
  });

  it('is not compressed if it is the response to a call', async () => {
    const body = { run_id: 'r', args: { text: 'x'.repeat(20_000) } };
    const headers = { ...GZIP.headers, prefer: 'wait=10' };
    const { headers: sent, text } = await server.post('/v1/tools/echo/invoke', body, { headers });
    expect(text.length).toBeGreaterThan(20_000);
    expect(sent.get('content-encoding')).toBeNull();
  });
});

describe('a short response', () => {
  it('is not compressed', async () => {
    expect((await server.get('/healthz', GZIP)).headers.get('content-encoding')).toBeNull();
  });
});
