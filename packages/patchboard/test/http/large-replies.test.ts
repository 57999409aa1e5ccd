import { describe, expect, it } from 'vitest';
import { closedAfterEach } from '../support/after-each.ts';
import { startServer } from '../support/server-process.ts';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { echoTool } from '../guard/support/scene.ts';
import { aServer } from './support/a-server.ts';
import { add, echo } from './support/toy-tools.ts';

const closeLater = closedAfterEach();

const START = '<<<[TOOL_REQUEST]>>>';
const END = '<<<[END_TOOL_REQUEST]>>>';
/** As long as a body may be. */
const MARKERS = START.repeat(52_000);
const PARALLEL = 10;

async function post(url: string, path: string, body: unknown): Promise<{ status: number; text: string }> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

describe('a megabyte of start markers', () => {
  /** Returns the number of other requests that were served while ten of these were open. */
  async function servedDuringFlood(url: string, path: string, body: unknown): Promise<number> {
    let open = PARALLEL;
    const flood = Array.from({ length: PARALLEL }, async () => {
      const response = await post(url, path, body);
      open -= 1;
      return response;
    });
    // One after the other: each needs turns of the event loop of its own.
    const health: number[] = [];
    while (open > 0) health.push((await fetch(`${url}/healthz`)).status);
    for (const { status, text } of await Promise.all(flood)) {
      expect(status).toBe(200);
      expect(text.length).toBeLessThan(100_000);
      expect(text).toContain('51900 more problems');
    }
    expect(new Set(health)).toEqual(new Set([200]));
    return health.length;
  }

  it('sent ten times at once gets short responses, and other requests are served meanwhile', async () => {
    const server = await startServer();
    closeLater(() => server.stop());
    for (const [path, body] of [
      ['/v1/parse', { protocol: 'vcp', text: MARKERS }],
      ['/v1/tool_calls/batch', { format: 'vcp', reply: MARKERS, run_id: 'run_flood' }],
    ] as const) {
      // Handlers that keep the thread until they are done leave fewer turns than that, however often they are called. On
      // a busy machine this process gets fewer turns than the server offers: then it takes another flood.
      while ((await servedDuringFlood(server.url, path, body)) <= 4 * PARALLEL);
    }
  });
});

describe('POST /v1/parse', () => {
  async function parse(text: string): Promise<{ length: number; json: Record<string, never[]> }> {
    const server = await aServer({ tools: [echo, add] });
    closeLater(() => server.close());
    const { status, text: response, json } = await server.post('/v1/parse', { protocol: 'vcp', text });
    expect(status).toBe(200);
    return { length: response.length, json: json as Record<string, never[]> };
  }

  it('lists a hundred problems and says how many more there are', async () => {
    const { json } = await parse(`${START}x:「始」1「末」${END}`.repeat(150));
    expect(json['errors']).toHaveLength(101);
    expect(json['errors']?.at(-1)).toEqual({
      code: 'problems_omitted',
      message: '50 more problems of this reply are not listed',
      reasons: [{ code: 'problems_omitted', params: { count: 50 } }],
      line: 1,
      column: 100 * `${START}x:「始」1「末」${END}`.length + 1,
    });
    expect(json['omitted']).toEqual({ requests: 0, errors: 50, arguments: 0 });
  });

  it('counts what is wrong with the arguments too, and lists a hundred arguments of a request', async () => {
    const fields = Array.from({ length: 5000 }, (_none, at) => `a${at}:「始」「末」`).join('');
    const { json, length } = await parse(`${START}tool_name:「始」math.add「末」${fields}${END}`);
    expect(json['errors']).toHaveLength(101);
    expect(json['requests']).toMatchObject([{ toolName: 'math.add' }]);
    const [request] = json['requests'] as unknown as { arguments: unknown[]; args: object }[];
    expect(request?.arguments).toHaveLength(100);
    expect(Object.keys(request?.args ?? {})).toHaveLength(5000);
    // `a` and `b` are missing.
    expect(json['omitted']).toEqual({ requests: 0, errors: 4902, arguments: 4902 });
    expect(length).toBeLessThan(150_000);
  });

  it('stops listing requests when the response is long', async () => {
    const one = `${START}tool_name:「始」echo「末」text:「始」${'x'.repeat(100_000)}「末」${END}`;
    const { json, length } = await parse(one.repeat(9));
    const listed = json['requests']?.length ?? 0;
    expect(listed).toBeGreaterThan(1);
    expect(json['omitted']).toEqual({ requests: 9 - listed, errors: 0, arguments: 0 });
    expect(length).toBeLessThan(2_000_000);
  });

  it('refuses a batch whose shared fields would be copied into a very long response', async () => {
    const commands = Array.from({ length: 100 }, (_none, at) => `command${at + 1}:「始」x「末」`).join('');
    const shared = `text:「始」${'x'.repeat(500_000)}「末」`;
    const { json, length } = await parse(`${START}tool_name:「始」T「末」${shared}${commands}${END}`);
    expect(json['errors']).toMatchObject([{ code: 'batch_too_large' }]);
    expect(length).toBeLessThan(1000);
  });

  it('says nothing of what is left out when nothing is', async () => {
    const { json } = await parse(`${START}tool_name:「始」echo「末」${END}`);
    expect(json).not.toHaveProperty('omitted');
  });
});

describe('the rate of a caller', () => {
  async function aPlatformWith(burst: number): Promise<TestPlatform> {
    const config = { rates: { principal: { burst, per_second: 0.001 } } };
    const server = await aPlatform({ tools: [echoTool], config });
    closeLater(() => server.close());
    return server;
  }

  it.each([
    // 8 KiB a token, and one for what is less; of a batch the first is paid for by its calls.
    ['/v1/parse', 0, (text: string) => ({ protocol: 'vcp', text })],
    ['/v1/tool_calls/batch', 1, (reply: string) => ({ format: 'vcp', reply, run_id: 'run_rate' })],
  ])('pays for the length of a reply: %s', async (path, free, bodyOf) => {
    const server = await aPlatformWith(10);
    const { headers } = await server.mint({ kind: 'agent', name: 'ada' });
    const send = async (tokens: number): Promise<number> => {
      const bytes = (tokens + free) * 8192;
      const response = await server.ask({ method: 'POST', path, headers, body: bodyOf('x'.repeat(bytes)) });
      if (response.status === 429)
        expect(response.json.detail).toContain(`a reply of ${bytes} bytes counts as ${tokens} more calls`);
      return response.status;
    };
    expect(await send(5)).toBe(200);
    expect(await send(6)).toBe(429);
    expect(await send(4)).toBe(200);
    expect(await send(1)).toBe(200);
    expect(await send(1)).toBe(429);
  });

  it('lets a full bucket pay for a reply that costs more than it holds', async () => {
    const server = await aPlatformWith(2);
    const { headers } = await server.mint({ kind: 'agent', name: 'ada' });
    const body = { protocol: 'vcp', text: 'x'.repeat(100_000) };
    const ask = async (): Promise<number> =>
      (await server.ask({ method: 'POST', path: '/v1/parse', headers, body })).status;
    expect([await ask(), await ask()]).toEqual([200, 429]);
  });
});
