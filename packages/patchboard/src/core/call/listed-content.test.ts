import { content, imageBlock, type ContentValue } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { utf8Bytes } from '../json/utf8-bytes.ts';
import { eventContent, listedResult } from './listed-content.ts';

const listed = (value: unknown): string => listedResult(JSON.stringify(value), 'tc_1');
const blocksIn = (json: string): ContentValue['patchboard:content'] =>
  (JSON.parse(json) as ContentValue)['patchboard:content'];

describe('a result in a list', () => {
  it('is itself if it has no content, or not much', () => {
    const rows = JSON.stringify({ rows: 'x'.repeat(100_000) });
    expect(listedResult(rows, 'tc_1')).toBe(rows);
    const small = JSON.stringify(content([imageBlock('AAAA'.repeat(10_000))]));
    expect(listedResult(small, 'tc_1')).toBe(small);
  });

  it.each<[string, ContentValue]>([
    ['one large picture', content([imageBlock('AAAA'.repeat(500_000))])],
    ['many small ones', content(Array.from({ length: 5000 }, () => imageBlock('AAAA'.repeat(100))))],
    ['text of wide characters', content(['像'.repeat(30_000), '素'])],
    ['a large structured result', content(['a'], { rows: 'x'.repeat(70_000) })],
  ])('has at most 64 KiB of content: %s', (_what, value) => {
    const json = listed(value);
    expect(utf8Bytes(json)).toBeLessThanOrEqual(65_536);
    expect(json).toContain('is left out here: read GET /v1/tool_calls/tc_1');
  });

  it('keeps the small blocks around a large one, and counts those it has no room to name', () => {
    const large = imageBlock('AAAA'.repeat(50_000));
    const few = blocksIn(listed(content(['before', large, 'after'])));
    expect(few).toMatchObject([
      { text: 'before' },
      { text: expect.stringMatching(/^\[image\/png, 150 kB\]/) as string },
      { text: 'after' },
    ]);
    const many = blocksIn(listed(content(Array.from({ length: 30 }, () => large))));
    expect(many).toHaveLength(21);
    expect(many.at(-1)).toMatchObject({
      text: expect.stringMatching(/^\[10 more blocks, 2\.0 MB\]/) as string,
    });
  });
});

describe('content in an event', () => {
  it('is named too, and nothing else is touched', () => {
    const data = { rows: 'x'.repeat(100_000) };
    expect(eventContent(data)).toBe(data);
    const named = eventContent(content([imageBlock('AAAA'.repeat(50_000))])) as ContentValue;
    expect(named['patchboard:content']).toMatchObject([
      {
        type: 'text',
        text: '[image/png, 150 kB] is left out here: an event carries at most 66 kB of content',
      },
    ]);
  });
});
