import { describe, expect, it } from 'vitest';
import { fixFor, offsetOf, SAMPLE, spansOf } from './reply-marks.ts';

const request = { requestId: '1', toolName: 't', args: {} };

describe('spansOf', () => {
  it('covers the whole text, each piece once', () => {
    const text = `${SAMPLE}tail`;
    const spans = spansOf(text, 'vcp', { requests: [{ ...request, line: 2, column: 1 }], errors: [] });
    expect(spans.map(({ from, to }) => text.slice(from, to)).join('')).toBe(text);
    const [span] = spans.filter(({ kind }) => kind === 'request');
    expect(text.slice(span!.from, span!.to)).toMatch(
      /^<<<\[TOOL_REQUEST\]>>>[\s\S]*<<<\[END_TOOL_REQUEST\]>>>$/,
    );
  });

  it('prefers errors over requests, and accepts a position beyond the end', () => {
    const errors = [{ code: 'x', message: 'm', line: 99, column: 9 }];
    expect(spansOf('ab', 'vcp', { requests: [], errors })).toEqual([{ from: 0, to: 2, kind: 'plain' }]);
    const inside = spansOf('ab', 'openai', {
      requests: [{ ...request, line: 1, column: 1 }],
      errors: [{ ...errors[0]!, line: 1, column: 2 }],
    });
    expect(inside).toEqual([
      { from: 0, to: 1, kind: 'request' },
      { from: 1, to: 2, kind: 'damage' },
    ]);
  });

  it('counts lines and columns as the server does', () => {
    expect(offsetOf('ab\ncd', 2, 2)).toBe(4);
  });
});

describe('fixFor', () => {
  it('closes a value and the request around it', () => {
    const text = '<<<[TOOL_REQUEST]>>>\ntool_name:「始」x「末」\nfoo:「始」bar';
    const fix = fixFor(text, { code: 'value_unclosed', line: 3, column: 5 });
    expect(fix?.text).toBe(`${text}「末」\n<<<[END_TOOL_REQUEST]>>>\n`);
  });

  it('closes a request before the next one begins', () => {
    const text =
      '<<<[TOOL_REQUEST]>>>\na:「始」1「末」\n<<<[TOOL_REQUEST]>>>\nb:「始」2「末」\n<<<[END_TOOL_REQUEST]>>>';
    const fix = fixFor(text, { code: 'block_unclosed', line: 1, column: 1 });
    expect(fix?.text.split('<<<[END_TOOL_REQUEST]>>>')).toHaveLength(3);
    const fixed = fix?.text ?? '';
    expect(fixed.indexOf('<<<[END_TOOL_REQUEST]>>>')).toBeLessThan(fixed.lastIndexOf('<<<[TOOL_REQUEST]>>>'));
  });

  it('offers no fix if the intention is ambiguous', () => {
    expect(fixFor('x', { code: 'key_duplicate', line: 1, column: 1 })).toBeNull();
  });
});
