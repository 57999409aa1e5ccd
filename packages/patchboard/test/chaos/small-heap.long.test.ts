import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type ServerProcess } from '../support/server-process.ts';

let server: ServerProcess;

beforeAll(async () => {
  server = await startServer({ NODE_OPTIONS: '--max-old-space-size=96', PATCHBOARD_LOG: 'error' });
  const tool = { name: 'printer.print', schema: { type: 'object' }, timeout_ms: 600_000 };
  expect(await post('/internal/tools/register', { client_id: 'kiosk', tools: [tool] })).toBe('200');
});
afterAll(async () => {
  await server.stop();
});

/** The status; that of a refusal with its code, and with whether it says when to come back. */
async function post(path: string, body: unknown): Promise<string> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(server.url + path, { method: 'POST', headers, body: text });
  const json = (await response.json()) as { code?: string };
  if (response.ok) return String(response.status);
  return `${response.status} ${json.code}${response.headers.has('retry-after') ? ', come back' : ''}`;
}

/** Runs all of them, a fixed number at a time. */
async function flood(count: number, parallel: number, ask: () => Promise<string>): Promise<Set<string>> {
  const seen = new Set<string>();
  let left = count;
  const work = async (): Promise<void> => {
    for (; left > 0; left -= 1) seen.add(await ask());
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return seen;
}

const invoke = (args: unknown): (() => Promise<string>) => {
  const body = JSON.stringify({ run_id: 'run_1', args });
  return () => post('/v1/tools/printer.print/invoke', body);
};

describe('a server with a heap of 96 MB', () => {
  it('refuses large arguments of open calls with 503 before it is full, and takes them again later', async () => {
    const seen = await flood(80, 4, invoke({ text: 'x'.repeat(1_000_000) }));
    expect(seen).toContain('202');
    expect(seen).toContain('503 queue_full, come back');
    expect(seen).not.toContain('500 internal');
    for (const response of seen) expect(response).toMatch(/^(202|503 \w+, come back)$/);
    expect(await post('/v1/runs/run_1/cancel', {})).toBe('200');
    const again = { run_id: 'run_2', args: { text: 'x'.repeat(1_000_000) } };
    expect(await post('/v1/tools/printer.print/invoke', again)).toBe('202');
    expect(await post('/v1/runs/run_2/cancel', {})).toBe('200');
  });

  it('refuses bodies that are large once they are parsed, many at once, with 503', async () => {
    const objects = Array.from({ length: 45_000 }, (_, index) => ({ [`k${index}`]: 1 }));
    const body = JSON.stringify({ run_id: 'run_3', args: { objects } });
    const seen = await flood(30, 30, () => post('/v1/tools/no.such.tool/invoke', body));
    expect(seen).toContain('404 tool_not_found');
    expect(seen).toContain('503 overloaded, come back');
    for (const response of seen) expect(response).toMatch(/^(404 tool_not_found|503 \w+, come back)$/);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });
});
