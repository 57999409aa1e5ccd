import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeSse, encodeSsePosition, sseDecoder, type SseFrame } from './sse.ts';

function decodeAll(chunks: readonly string[]): SseFrame[] {
  const decode = sseDecoder();
  return chunks.flatMap((chunk) => decode(chunk));
}

describe('server-sent events', () => {
  const text = [
    ': keep-alive\n\n',
    encodeSse({ id: 7, event: 'call.state', data: '{"state":"PENDING"}' }),
    encodeSse({ event: 'call.progress', data: '{"说":"🙂"}' }),
    'id: 8\r\nevent: call.state\r\ndata: one\r\ndata:two\r\n\r\n',
    'data\n\n',
    'event: never finished\ndata: x',
  ].join('');
  const frames: SseFrame[] = [
    { id: '7', event: 'call.state', data: '{"state":"PENDING"}' },
    { id: null, event: 'call.progress', data: '{"说":"🙂"}' },
    { id: '8', event: 'call.state', data: 'one\ntwo' },
    { id: null, event: 'message', data: '' },
  ];

  it('decode to the same frames wherever the text is split', () => {
    for (let cut = 0; cut <= text.length; cut++) {
      expect(decodeAll([text.slice(0, cut), text.slice(cut)])).toEqual(frames);
    }
    expect(decodeAll(text.split(''))).toEqual(frames);
  });

  it('are not emitted before their terminating empty line', () => {
    const decode = sseDecoder();
    expect(decode('id: 1\ndata: x\n')).toEqual([]);
    expect(decode('\n')).toEqual([{ id: '1', event: 'message', data: 'x' }]);
  });

  it('without data emit only their id, or nothing if they have none', () => {
    expect(decodeAll(['event: ping\n\n', 'retry: 500\n\n'])).toEqual([]);
    expect(decodeAll([encodeSsePosition(3)])).toEqual([{ id: '3', event: 'message', data: null }]);
  });

  it('lose only the first space after the colon', () => {
    expect(decodeAll(['data:  x\n\n'])).toEqual([{ id: null, event: 'message', data: ' x' }]);
  });

  it('round-trip for any JSON and any chunk size', () => {
    const frame = fc.record({
      id: fc.nat(),
      event: fc.constantFrom('call.state', 'x'),
      value: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.array(frame), fc.integer({ min: 1, max: 40 }), (sent, size) => {
        const wire = sent
          .map(({ id, event, value }) => encodeSse({ id, event, data: JSON.stringify(value) }))
          .join('');
        const chunks = wire.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
        expect(decodeAll(chunks)).toEqual(
          sent.map(({ id, event, value }) => ({ id: String(id), event, data: JSON.stringify(value) })),
        );
      }),
    );
  });

  it('round-trip text with line breaks', () => {
    expect(decodeAll([encodeSse({ event: 'x', data: 'one\ntwo\n' })])).toEqual([
      { id: null, event: 'x', data: 'one\ntwo\n' },
    ]);
  });
});
