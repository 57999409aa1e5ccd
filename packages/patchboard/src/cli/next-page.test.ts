import { shellWord } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { nextPageCommand } from './next-page.ts';

describe('the command of the next page', () => {
  it('repeats the words and options, quoted for a shell', () => {
    const flags = { since: '1h', tool: undefined, yes: true, no: false, cursor: '12.list.tc_1' };
    expect(nextPageCommand(['calls', 'ls'], ['tool:a.* ran>2s', "it's"], flags)).toBe(
      `patchboard calls ls 'tool:a.* ran>2s' 'it'\\''s' --since 1h --yes --cursor 12.list.tc_1`,
    );
    expect(['a-b/c.d:e=f', '', '$x', '~'].map(shellWord)).toEqual(['a-b/c.d:e=f', "''", "'$x'", "'~'"]);
  });
});
