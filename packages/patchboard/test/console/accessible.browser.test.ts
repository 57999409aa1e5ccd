import { describe, it } from 'vitest';
import { useAccessibilityCheck } from './support/accessibility.ts';

const check = useAccessibilityCheck();

describe('every page', () => {
  // accessible.long.test.ts has the other languages, themes and widths.
  it('has no accessibility violations: zh-CN, dark, 1280 wide', { timeout: 240_000 }, async () => {
    await check(['zh-CN', 'dark', 1280]);
  });
});
