import { describe, expect, it } from 'vitest';
import { withBoundedBody } from './bounded-body.ts';
import { BodyTooLarge } from './fetch-errors.ts';

const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8' };

function aResponse(chunks: readonly string[], headers: Record<string, string> = {}) {
  const state = { isCancelled: false };
  const parts = [...chunks];
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const part = parts.shift();
        if (part === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(part));
      },
      cancel: () => void (state.isCancelled = true),
    },
    { highWaterMark: 0 },
  );
  return { response: new Response(body, { headers }), state };
}

describe('withBoundedBody', () => {
  it('keeps status, headers and URL, and a body within the limit', async () => {
    const given = new Response('12345678', { status: 201, statusText: 'Made', headers: { 'x-a': 'b' } });
    const bounded = withBoundedBody(given, 'http://a.example/x', 8);
    expect([bounded.status, bounded.statusText, bounded.url]).toEqual([201, 'Made', 'http://a.example/x']);
    expect(bounded.headers.get('x-a')).toBe('b');
    expect(await bounded.text()).toBe('12345678');
  });

  it('keeps a response without a body', async () => {
    const bounded = withBoundedBody(new Response(null, { status: 204 }), 'http://a.example/', 8);
    expect([bounded.status, await bounded.text()]).toEqual([204, '']);
  });

  it('ends a body that exceeds the limit', async () => {
    const { response, state } = aResponse(['1234', '5678', '9', 'never read']);
    await expect(withBoundedBody(response, 'http://a.example/', 8).text()).rejects.toThrow(BodyTooLarge);
    expect(state.isCancelled).toBe(true);
  });

  it.each([
    ['LF', ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']],
    ['CRLF', ['data:1\r\n\r\n', 'data:2\r\n\r\n', 'data:3\r\n\r\n']],
    ['CR', ['data: 1\r\r', 'data: 2\r\r']],
    ['CRLF between chunks', ['data:1\r', '\n\r', '\ndata:2\r\n', '\r\n', 'data:3\r\n\r\n']],
    ['one chunk', ['data: 1\n\ndata: 2\n\ndata: 3\n\n']],
  ])('lets an event stream last whose events are within the limit: %s', async (_, chunks) => {
    const { response } = aResponse(chunks, EVENTS);
    expect(await withBoundedBody(response, 'http://a.example/', 10).text()).toBe(chunks.join(''));
  });

  it.each([
    ['of one line', ['data: 1\n\n', 'data: 1234567', '8901234']],
    ['of several lines', ['data: 1\ndata: 2\ndata: 3\n']],
    ['of CRLF lines, which are not blank', ['a\r\nb\r\nc\r\nd\r\n']],
    ['in one chunk with others', ['data: 1\n\ndata: 12345678901\n\ndata: 3\n\n']],
  ])('ends an event stream at an event that exceeds the limit: %s', async (_, chunks) => {
    const { response } = aResponse(chunks, EVENTS);
    await expect(withBoundedBody(response, 'http://a.example/', 10).text()).rejects.toThrow(BodyTooLarge);
  });
});
