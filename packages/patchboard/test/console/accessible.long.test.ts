import { describe, it } from 'vitest';
import { useAccessibilityCheck } from './support/accessibility.ts';

const check = useAccessibilityCheck();

describe('every page', () => {
  it.each([
    ['en', 'light', 1280],
    ['en', 'dark', 390],
    ['zh-CN', 'dark', 1280],
    ['zh-CN', 'light', 390],
  ] as const)(
    'has no accessibility violations: %s, %s, %i wide',
    async (...combination) => {
      await check(combination);
    },
    240_000,
  );
});
