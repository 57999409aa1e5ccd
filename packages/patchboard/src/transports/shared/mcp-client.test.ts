import { expect, it } from 'vitest';
import { mcpClientOf } from './mcp-client.ts';

it.each([
  [
    { name: 'claude-code', version: '2.1.325' },
    { name: 'claude-code', version: '2.1.325' },
  ],
  [{ name: 'a' }, { name: 'a', version: '' }],
  [
    { name: 'a', version: 7 },
    { name: 'a', version: '' },
  ],
  [
    { name: 'x'.repeat(300), version: 'y'.repeat(300) },
    { name: 'x'.repeat(200), version: 'y'.repeat(100) },
  ],
  [
    { name: ' a\u200b\u202eb\u{e0041}\nc\t \u0000d ', version: '1\u2800' },
    { name: 'ab c d', version: '1' },
  ],
  [{ name: `${'x'.repeat(199)}😀` }, { name: 'x'.repeat(199), version: '' }],
  [{ name: '\u200b' }, undefined],
  [{ name: {} }, undefined],
  ['name', undefined],
  [null, undefined],
  [undefined, undefined],
])('reads %j as %j', (given, expected) => {
  expect(mcpClientOf(given)).toEqual(expected);
});
