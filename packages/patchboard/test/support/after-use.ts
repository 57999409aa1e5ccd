import { onTestFinished, TestRunner } from 'vitest';

/** What is closed after the last test of the file, newest last. */
const open: (() => unknown)[] = [];

/**
 * Calls `close` when the test has ended or, outside of a test, after the last test of the file; the newest first. An `afterAll`
 * would not do: vitest ignores one that a hook registers.
 */
export function afterUse(close: () => unknown): void {
  if (TestRunner.getCurrentTest() === undefined) open.push(close);
  else onTestFinished(async () => void (await close()));
}

/** Closes what was opened outside of a test. Called after each file. */
export async function closeAll(): Promise<void> {
  for (let close = open.pop(); close !== undefined; close = open.pop()) await close();
}
