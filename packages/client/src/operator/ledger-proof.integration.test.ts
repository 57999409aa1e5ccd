import { describe, expect, it } from 'vitest';
import { clientOf, drop, failureOf, fakeServer, json, problem } from '../../test/fake-server.ts';
import { createClient } from '../index.ts';

const HEAD = '{"head":{"seq":2,"hash":"ff"},"tenant_id":"default"}';
const ROWS = ['{"seq":1,"body":{"text":"天气"}}', '{"seq":2,"body":{}}', HEAD];
const JSONL = { 'content-type': 'application/jsonl; charset=utf-8' };

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const read: string[] = [];
  for await (const line of lines) read.push(line);
  return read;
}

describe('ledgerVerify', () => {
  it.each([
    { ok: true, rows: 2, head: { seq: 2, hash: 'ff' }, checkpoint: '2:ff', seq: null, problem: null },
    { ok: false, rows: 1, head: null, checkpoint: null, seq: 2, problem: 'the row was changed' },
  ])('returns the verdict, also of a broken chain', async (verdict) => {
    const server = await fakeServer((_seen, response) => json(response, 200, verdict));
    expect(await clientOf(server).ledgerVerify()).toEqual(verdict);
  });

  it('sends a checkpoint, and returns null for the one that an older server does not send', async () => {
    const verdict = { ok: true, rows: 0, head: { seq: 2, hash: 'ff' }, seq: null, problem: null };
    const server = await fakeServer((_seen, response) => json(response, 200, verdict));
    expect(await clientOf(server).ledgerVerify({ from: '2:ff' })).toEqual({ ...verdict, checkpoint: null });
    expect(server.seen[0]).toMatchObject({ path: '/v1/ledger/verify?from=2%3Aff' });
  });

  it('has a longer timeout than other requests', async () => {
    const verdict = {
      ok: true,
      rows: 0,
      head: { seq: 0, hash: '00' },
      checkpoint: null,
      seq: null,
      problem: null,
    };
    const fetch = async (): Promise<Response> => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return Response.json(verdict);
    };
    const client = createClient({ url: 'http://board.test', fetch, requestTimeoutMs: 5 });
    expect(await client.ledgerVerify()).toEqual(verdict);
  });
});

describe('ledgerExport', () => {
  it('yields every line unchanged, wherever the chunks were split', async () => {
    const bytes = Buffer.from(ROWS.map((row) => `${row}\n`).join(''));
    for (let cut = 1; cut < bytes.length; cut += 7) {
      const fetch = (): Promise<Response> => {
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            controller.enqueue(bytes.subarray(0, cut));
            controller.enqueue(bytes.subarray(cut));
            controller.close();
          },
        });
        return Promise.resolve(new Response(body, { headers: JSONL }));
      };
      expect(await all(createClient({ url: 'http://board.test', fetch }).ledgerExport())).toEqual(ROWS);
    }
  });

  it('works where fetch cannot stream', async () => {
    const fetch = () =>
      Promise.resolve({
        status: 200,
        headers: new Headers(JSONL),
        text: () => Promise.resolve(`${ROWS.join('\n')}\n`),
      });
    expect(await all(createClient({ url: 'http://board.test', fetch }).ledgerExport())).toEqual(ROWS);
  });

  it('throws when the response is truncated, with or without a network error', async () => {
    const broken = await fakeServer(async (_seen, response) => {
      response.writeHead(200, JSONL);
      response.write(`${ROWS[0]!}\n`);
      await drop(response);
    });
    expect(await failureOf(all(clientOf(broken).ledgerExport()))).toMatchObject({ kind: 'network' });
    const short = await fakeServer((_seen, response) => {
      response.writeHead(200, JSONL);
      response.end(`${ROWS[0]!}\n`);
    });
    await expect(all(clientOf(short).ledgerExport())).rejects.toThrow('broke off before its end');
  });

  it('throws the error of the server', async () => {
    const server = await fakeServer((_seen, response) => problem(response, 403, 'permission_denied'));
    expect(await failureOf(all(clientOf(server).ledgerExport()))).toMatchObject({
      code: 'permission_denied',
    });
    const page = await fakeServer((_seen, response) => json(response, 200, {}));
    await expect(all(clientOf(page).ledgerExport())).rejects.toThrow('is no ledger');
  });

  it('closes the connection when the reader stops', async () => {
    const server = await fakeServer((_seen, response) => {
      response.writeHead(200, JSONL);
      response.write(`${ROWS[0]!}\n`);
    });
    for await (const line of clientOf(server).ledgerExport()) {
      expect(line).toBe(ROWS[0]);
      break;
    }
    await server.seen[0]!.closed;
  });
});
