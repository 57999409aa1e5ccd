import { describe, expect, it } from 'vitest';
import { aPrincipal } from '../../../test/support/an-engine.ts';
import {
  anOpenApiCaller,
  json,
  resultOf,
  type SentRequest,
} from '../../../test/support/an-openapi-caller.ts';
import { VERSION } from '../../version.ts';
import { AddressNotAllowed, BodyTooLarge, CouldNotConnect, RequestFailed } from '../shared/fetch-errors.ts';
import type { OperationBody } from './operation.ts';

const POST: { method: string; body: OperationBody } = {
  method: 'POST',
  body: { argument: 'body', mediaType: 'application/json', required: false },
};
const IDEMPOTENT = { idempotent: true };
const refused = (): never => {
  throw new CouldNotConnect('https://api.example', new Error('connect ECONNREFUSED'));
};
const lost = (): never => {
  throw new RequestFailed('https://api.example', new Error('other side closed'));
};
const ok = (): Response => json({ ok: true });

describe('a request', () => {
  it('has the key of the call, the trace, the version and the media types of the operation', async () => {
    const traceId = 'a'.repeat(32);
    const { call, sent } = await anOpenApiCaller({
      responses: [ok],
      operation: { ...POST, accept: ['text/csv', 'application/json'] },
      settings: { headers: { 'X-Team': 'a' } },
    });
    const done = await call({ body: { a: 1 } }, { traceId, spanId: 'b'.repeat(16) });
    expect(resultOf(done)).toEqual({ ok: true });
    expect(sent[0]).toMatchObject({
      url: 'https://api.example/items',
      init: {
        method: 'POST',
        body: '{"a":1}',
        redirect: 'manual',
        headers: {
          accept: 'application/json, text/csv, */*;q=0.1',
          'content-type': 'application/json',
          'idempotency-key': done.id,
          traceparent: `00-${traceId}-${'b'.repeat(16)}-01`,
          'user-agent': `patchboard/${VERSION}`,
          'x-team': 'a',
        },
      },
    });
  });

  it('has no key if its method is safe', async () => {
    const { call, sent } = await anOpenApiCaller({ responses: [ok] });
    await call();
    expect(sent[0]?.init.headers).not.toHaveProperty('idempotency-key');
    expect(sent[0]?.init).toMatchObject({ redirect: 'follow', body: null });
  });

  it('keeps headers that the operation declares itself', async () => {
    const parameter = { in: 'header' as const, style: 'simple', explode: false, allowReserved: false };
    const parameters = [{ ...parameter, name: 'Idempotency-Key', argument: 'key' }];
    const { call, sent } = await anOpenApiCaller({ responses: [ok], operation: { ...POST, parameters } });
    await call({ key: 'mine' });
    expect(sent[0]?.init.headers['idempotency-key']).toBe('mine');
  });

  it('is aborted with its call', async () => {
    const hang = ({ init }: SentRequest): Promise<Response> =>
      new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(new Error('aborted'))));
    const { call, sent, engine, find } = await anOpenApiCaller({ responses: [hang], operation: POST });
    const { id, state } = await call();
    expect(state.name).toBe('EXECUTING');
    await engine.calls.cancel(aPrincipal(), id);
    expect((await find(id)).state).toMatchObject({ name: 'CANCELLED' });
    expect(sent.map(({ init }) => init.signal?.aborted)).toEqual([true]);
  });
});

describe('the server', () => {
  const operation = { server: 'https://other.example/v2' };

  it.each([
    [{ server: 'https://mine.example/x' }, operation, 'https://mine.example/x/items'],
    [{}, operation, 'https://other.example/v2/items'],
    [{}, {}, 'https://api.example/items'],
    [{}, { server: '/v3' }, 'https://api.example/v3/items'],
    [{}, { server: 'v3' }, 'https://api.example/v3/items'],
  ])('of %j and %j gives %s', async (settings, given, url) => {
    const { call, sent } = await anOpenApiCaller({ responses: [ok], settings, operation: given });
    await call();
    expect(sent[0]?.url).toBe(url);
  });

  it.each(['/v3', 'https://{region}.example', 'ftp://x.example', 'https://u:p@x.example'])(
    'names the config key if %s cannot be used',
    async (server) => {
      const settings = { description: { kind: 'file', path: '/x/shop.yaml' } } as const;
      const { call, sent } = await anOpenApiCaller({ responses: [], settings, operation: { server } });
      const { state } = await call();
      expect(state).toMatchObject({
        name: 'FAILED',
        error: { code: 'tool_failed', outcome: 'not_started' },
      });
      expect(JSON.stringify(state)).toContain('openapi.shop.server');
      expect(JSON.stringify(state)).not.toContain('u:p');
      expect(sent).toEqual([]);
    },
  );

  it('that is not public names the config key that allows it', async () => {
    const blocked = (): never => {
      throw new AddressNotAllowed('127.0.0.1 is not a public address');
    };
    const { call, sent } = await anOpenApiCaller({ responses: [blocked], operation: POST });
    expect((await call()).state).toMatchObject({
      error: {
        code: 'tool_failed',
        outcome: 'not_started',
        retryable: false,
        message: '127.0.0.1 is not a public address: to allow this server, set openapi.shop.server',
      },
    });
    expect(sent).toHaveLength(1);
  });
});

describe('a response with an error', () => {
  it('has its status, its body and the detail of its problem', async () => {
    const body = { title: 'Missing', detail: 'no item 7 (key s3cret-value)' };
    const { call } = await anOpenApiCaller({ responses: [() => json(body, 404)], secrets: ['s3cret-value'] });
    const { state } = await call();
    expect(state).toEqual({
      name: 'FAILED',
      error: {
        code: 'tool_failed',
        message: 'GET /items returned 404 Not Found: no item 7 (key [redacted])',
        reasons: [expect.objectContaining({ code: 'openapi_status_detail' })],
        retryable: false,
        toolResult: { status: 404, body: { title: 'Missing', detail: 'no item 7 (key [redacted])' } },
      },
      resultDigest: null,
    });
  });

  it.each([
    ['{"error":{"message":"bad key"}}', 'application/json', ': bad key'],
    ['{"message":"so","error":"x"}', 'application/json', ': so'],
    ['plain\nwords', 'text/plain', ': plain words'],
    ['<html>Error</html>', 'text/html', ''],
    ['', 'text/plain', ''],
  ])('says %j', async (body, type, expected) => {
    const response = (): Response => new Response(body, { status: 422, headers: { 'content-type': type } });
    const { call } = await anOpenApiCaller({ responses: [response] });
    expect((await call()).state).toMatchObject({
      error: { message: `GET /items returned 422 Unprocessable Entity${expected}` },
    });
  });

  it('is cut, and a secret at the cut is masked as a whole', async () => {
    const secret = 'very-secret-value';
    const body = `${'x'.repeat(16_384 - 5)}${secret}${'y'.repeat(50_000)}`;
    const response = (): Response =>
      new Response(body, { status: 400, headers: { 'content-type': 'text/plain' } });
    const { call } = await anOpenApiCaller({ responses: [response], secrets: [secret] });
    const text = JSON.stringify((await call()).state);
    expect(text).not.toContain('very');
    expect(text.length).toBeLessThan(20_000);
  });

  describe('that is cut', () => {
    const secret = `very-secret-${'v'.repeat(52)}`;

    it.each([
      ['its characters have three bytes', ['错'.repeat(10_920), secret.slice(0, 8), 'more']],
      ['secrets in it become shorter', [`${secret} `.repeat(504), secret.slice(0, 8), 'more']],
      ['the connection is lost', ['the token ', secret.slice(0, 8), null]],
    ])('has no beginning of a secret at its end, although %s', async (_why, given) => {
      const parts = [...given];
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          const part = parts.shift();
          if (part === undefined) controller.close();
          else if (part === null) controller.error(new Error('other side closed'));
          else controller.enqueue(Buffer.from(part));
        },
      });
      const response = (): Response => new Response(body, { status: 400 });
      const { call } = await anOpenApiCaller({ responses: [response], secrets: [secret] });
      const text = JSON.stringify((await call()).state);
      expect(text).toMatch(/错|redacted|token/);
      expect(text).not.toContain('ver');
    });
  });

  it('of the server leaves the outcome unknown, and is retried only for idempotent tools', async () => {
    const broken = (): Response => json({}, 500);
    const once = await anOpenApiCaller({ responses: [broken], operation: POST });
    expect((await once.call()).state).toMatchObject({ error: { outcome: 'unknown', retryable: false } });
    expect(once.sent).toHaveLength(1);
    const again = await anOpenApiCaller({
      responses: [broken, ok],
      operation: { method: 'PUT' },
      annotations: IDEMPOTENT,
    });
    const { id } = await again.call();
    await again.clock.advance(10_000);
    expect(resultOf(await again.find(id))).toEqual({ ok: true });
    const [first, second] = again.sent.map(({ init }) => init.headers['idempotency-key']);
    expect([first, second]).toEqual([id, id]);
  });

  it('that redirects another method than GET is not followed', async () => {
    const moved = (): Response =>
      new Response(null, { status: 303, headers: { location: 'https://x.example/' } });
    const { call } = await anOpenApiCaller({ responses: [moved], operation: POST });
    expect((await call()).state).toMatchObject({
      error: {
        code: 'tool_failed',
        outcome: 'unknown',
        message: 'POST /items returned 303 See Other to https://x.example/, which is not followed',
      },
    });
  });
});

describe('a request that fails', () => {
  it('before it was sent is sent again, also for tools that are not idempotent, within the deadline', async () => {
    const { call, clock, find, sent } = await anOpenApiCaller({
      responses: [refused, refused, ok],
      operation: POST,
    });
    const { id } = await call();
    await clock.advance(2000);
    expect(resultOf(await find(id))).toEqual({ ok: true });
    expect(sent).toHaveLength(3);
  });

  it('before it was sent, each time, ends as not started', async () => {
    const { call, clock, find } = await anOpenApiCaller({
      responses: [refused, refused, refused],
      operation: POST,
    });
    const { id } = await call();
    await clock.advance(10_000);
    expect((await find(id)).state).toMatchObject({
      name: 'FAILED',
      error: {
        code: 'upstream_unreachable',
        outcome: 'not_started',
        retryable: true,
        message: 'POST /items was not sent: could not connect to https://api.example: connect ECONNREFUSED',
      },
    });
  });

  it('before it was sent is retried by the engine alone if the tool is idempotent', async () => {
    const { call, clock, find, sent } = await anOpenApiCaller({
      responses: [refused, refused, refused],
      annotations: IDEMPOTENT,
    });
    const { id } = await call();
    await clock.advance(20_000);
    expect((await find(id)).state).toMatchObject({ name: 'FAILED' });
    expect(sent).toHaveLength(3);
  });

  it('after it was sent has an unknown outcome, and is never sent again for a tool that is not idempotent', async () => {
    const { call, clock, find, sent } = await anOpenApiCaller({ responses: [lost], operation: POST });
    const { id } = await call();
    await clock.advance(10_000);
    expect((await find(id)).state).toMatchObject({
      error: { code: 'provider_disconnected', outcome: 'unknown', retryable: false },
    });
    expect(sent).toHaveLength(1);
  });

  it('in the middle of the response has an unknown outcome', async () => {
    const broken = new ReadableStream({ start: (controller) => controller.error(new Error('terminated')) });
    const response = (): Response =>
      new Response(broken, { headers: { 'content-type': 'application/json' } });
    const { call } = await anOpenApiCaller({ responses: [response], operation: POST });
    expect((await call()).state).toMatchObject({
      error: {
        code: 'provider_disconnected',
        outcome: 'unknown',
        message: expect.stringContaining('terminated') as string,
      },
    });
  });
});

describe('a server that is busy', () => {
  const busy = (status: number, after: string) => (): Response => json({}, status, { 'retry-after': after });

  it('gets the request again after Retry-After, and not before', async () => {
    const { call, clock, find, sent } = await anOpenApiCaller({
      responses: [busy(429, '20'), ok],
      operation: POST,
    });
    const { id } = await call();
    await clock.advance(19_000);
    expect(sent).toHaveLength(1);
    await clock.advance(2000);
    expect(resultOf(await find(id))).toEqual({ ok: true });
  });

  it('gets no second request with status 503 if the tool is not idempotent', async () => {
    const { call, clock, find, sent } = await anOpenApiCaller({
      responses: [busy(503, '1')],
      operation: POST,
    });
    const { id } = await call();
    await clock.advance(5000);
    expect((await find(id)).state).toMatchObject({ error: { outcome: 'unknown' } });
    expect(sent).toHaveLength(1);
  });

  it('gets the retry of an idempotent tool after Retry-After with status 503', async () => {
    const { call, clock, find, sent } = await anOpenApiCaller({
      responses: [busy(503, '20'), ok],
      annotations: IDEMPOTENT,
    });
    const { id } = await call();
    await clock.advance(19_000);
    expect(sent).toHaveLength(1);
    await clock.advance(2000);
    expect(resultOf(await find(id))).toEqual({ ok: true });
  });

  it('gets nothing if it is busy until after the deadline', async () => {
    const { call, clock, find, sent } = await anOpenApiCaller({
      responses: [busy(429, '120')],
      operation: POST,
    });
    const { id } = await call();
    await clock.advance(1000);
    expect((await find(id)).state).toMatchObject({
      error: { code: 'upstream_unreachable', outcome: 'not_started', retryable: true },
    });
    const next = await call();
    expect(next.state).toMatchObject({ error: { outcome: 'not_started' } });
    expect(sent).toHaveLength(1);
  });
});

describe('a result', () => {
  const respond = async (body: BodyInit | null, type: string | null, status = 200): Promise<unknown> => {
    const headers = type === null ? [] : [['content-type', type] as [string, string]];
    const { call } = await anOpenApiCaller({
      responses: [() => new Response(body, { status, headers })],
      secrets: ['s3cret-value'],
    });
    return (await call()).state;
  };
  const value = async (...given: Parameters<typeof respond>): Promise<unknown> => {
    const state = (await respond(...given)) as { resultJson: string };
    return JSON.parse(state.resultJson) as unknown;
  };
  const bytes = Uint8Array.of(1, 2, 255);

  it('is the JSON value, without secrets', async () => {
    expect(await value('{"a":["s3cret-value"]}', 'application/json; charset=utf-8')).toEqual({
      a: ['[redacted]'],
    });
    expect(await value('[1]', 'application/vnd.api+json')).toEqual([1]);
  });

  it('is text, decoded with its charset', async () => {
    expect(await value('hi s3cret-value', 'text/plain')).toBe('hi [redacted]');
    expect(await value(Uint8Array.of(0xe9), 'text/plain; charset=iso-8859-1')).toBe('é');
    expect(await value('é', 'text/csv; charset="no-such"')).toBe('é');
    expect(await value('<a/>', 'application/atom+xml')).toBe('<a/>');
  });

  it('is null without a body', async () => {
    expect(await value(null, null, 204)).toBeNull();
    expect(await value('', 'application/json')).toBeNull();
  });

  it('is content for other media types', async () => {
    const data = Buffer.from(bytes).toString('base64');
    expect(await value(bytes, 'image/png')).toEqual({
      'patchboard:content': [{ type: 'image', data, mimeType: 'image/png' }],
    });
    expect(await value(bytes, 'audio/mpeg')).toEqual({
      'patchboard:content': [{ type: 'audio', data, mimeType: 'audio/mpeg' }],
    });
    expect(await value(bytes, 'application/pdf')).toEqual({
      'patchboard:content': [
        {
          type: 'resource',
          resource: { uri: 'https://api.example/items', mimeType: 'application/pdf', blob: data },
        },
      ],
    });
    const masked = (await value('x s3cret-value', 'application/zip')) as Record<
      string,
      [{ resource: { blob: string } }]
    >;
    expect(Buffer.from(masked['patchboard:content']?.[0].resource.blob ?? '', 'base64').toString()).toBe(
      'x [redacted]',
    );
  });

  it('is JSON although it is sent as text or without a type, if the tool has an output schema', async () => {
    for (const type of ['text/plain', null]) {
      const headers: HeadersInit = type === null ? {} : { 'content-type': type };
      const respondWith = (body: string) => (): Response => new Response(Buffer.from(body), { headers });
      const responses = [respondWith('{"a":1}'), respondWith('no json')];
      const { call } = await anOpenApiCaller({ responses, outputSchema: { type: 'object' } });
      expect(resultOf(await call())).toEqual({ a: 1 });
      expect((await call()).state).toMatchObject({ error: { code: 'output_invalid' } });
    }
    expect(await value('{"a":1}', 'text/plain')).toBe('{"a":1}');
  });

  it('is a failure if it is declared as JSON and is none', async () => {
    expect(await respond('{"a":s3cret-value', 'application/json')).toMatchObject({
      error: {
        code: 'output_invalid',
        outcome: 'unknown',
        message: 'the response has the type application/json and is not valid JSON',
      },
    });
  });

  it('is a failure beyond 4 MiB, after which the effect may have happened', async () => {
    const expected = {
      error: {
        code: 'result_too_large',
        outcome: 'unknown',
        message: 'the response of GET /items is larger than 4194304 bytes',
      },
    };
    expect(await respond('x'.repeat(4_194_305), 'text/plain')).toMatchObject(expected);
    const stream = new ReadableStream({
      start: (controller) => controller.error(new BodyTooLarge('response', 4_194_304)),
    });
    expect(await respond(stream, 'text/plain')).toMatchObject(expected);
  });
});
