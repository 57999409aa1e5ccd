import { describe, expect, it } from 'vitest';
import {
  audioBlock,
  base64Bytes,
  blockName,
  content,
  contentText,
  imageBlock,
  isContentJson,
  isContentValue,
  resourceBlock,
  sizeText,
} from '../index.ts';

const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_each, index) => index % 256);

describe('content()', () => {
  it('makes a value that is recognised by its first member, as a value and as JSON', () => {
    const value = content(['hello', imageBlock(bytes(3))], { rows: 1 });
    expect(value).toEqual({
      'patchboard:content': [
        { type: 'text', text: 'hello' },
        { type: 'image', data: 'AAEC', mimeType: 'image/png' },
      ],
      structured: { rows: 1 },
    });
    expect(isContentValue(value)).toBe(true);
    expect(isContentJson(JSON.stringify(value))).toBe(true);
    for (const other of [
      null,
      1,
      'patchboard:content',
      [],
      {},
      { a: 1, 'patchboard:content': [] },
      { 'patchboard:content': 1 },
    ])
      expect(isContentValue(other)).toBe(false);
  });

  it.each([0, 1, 2, 3, 6143, 6144, 6145, 6146, 100_000])('encodes %i bytes', (length) => {
    const encoded = imageBlock(bytes(length)).data;
    expect(encoded).toBe(Buffer.from(bytes(length)).toString('base64'));
    expect(base64Bytes(encoded)).toBe(length);
  });

  it('throws for anything but a list', () => {
    expect(() => content('text' as never)).toThrow('content() takes a list of blocks and texts');
  });
});

describe('content as text', () => {
  it('names what text cannot show', () => {
    expect(blockName(imageBlock(bytes(12_000)))).toBe('[image/png, 12 kB]');
    expect(blockName(audioBlock('A'.repeat(4_533_332), 'audio/wav'))).toBe('[audio/wav, 3.4 MB]');
    expect(blockName(resourceBlock('file:///a.pdf', bytes(512), 'application/pdf'))).toBe(
      '[application/pdf, 512 B, file:///a.pdf]',
    );
    expect(blockName({ type: 'resource_link', uri: 'https://a.example/b', name: 'b' })).toBe(
      '[b: https://a.example/b]',
    );
    expect(sizeText(999_600)).toBe('1.0 MB');
  });

  it('has the texts, the names and the structured result, which it does not repeat', () => {
    const blocks = ['two', imageBlock(bytes(9)), resourceBlock('a:b', 'inside')];
    expect(contentText(content(blocks, { a: 1 }))).toBe('two\n[image/png, 9 B]\ninside\n{"a":1}');
    expect(contentText(content(['{ "a": 1 }'], { a: 1 }))).toBe('{ "a": 1 }');
    expect(contentText(content(['{ "a": 2 }'], { a: 1 }))).toBe('{ "a": 2 }\n{"a":1}');
  });

  it('leaves out blocks that were never validated and are not complete', () => {
    const broken = { 'patchboard:content': [null, 1, { type: 'image' }, { type: 'text', text: 'a' }] };
    expect(contentText(broken as never)).toBe('a');
  });
});
