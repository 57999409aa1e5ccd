import { expect, it } from 'vitest';
import { walkThrough } from './walkthrough.ts';

// readme.long.test.ts walks through every guide.
it.each(['docs/guides/mcp-servers.md', 'docs/guides/openapi.md'])(
  '%s shows commands and programs that do what it says',
  { timeout: 120_000 },
  async (guide) => {
    expect(await walkThrough(guide)).toEqual([]);
  },
);
