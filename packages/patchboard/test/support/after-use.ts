import { afterAll, onTestFinished, TestRunner } from 'vitest';

/** Calls `close` when the test has ended or, outside of a test, after the last test of the file or block; the newest first. */
export function afterUse(close: () => unknown): void {
  if (TestRunner.getCurrentTest() === undefined) afterAll(async () => void (await close()));
  else onTestFinished(async () => void (await close()));
}
