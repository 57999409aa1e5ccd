import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HeapProcess, heapProblems, LEAKING_TOOL } from '../../../../scripts/chaos/tools-heap.ts';
import { REPEATED_CALLS } from '../../../../scripts/chaos/tools-heap-calls.ts';

/** `npm run chaos -- tools-heap` makes ten times as many. */
const CALLS = 200;
const TIMEOUT = { timeout: 300_000 };

let folder: string;
let heap: HeapProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchboard-heap-'));
  heap = await HeapProcess.start(folder);
});

afterAll(async () => {
  await heap.close();
  await rm(folder, { recursive: true, force: true });
});

it('calls every built-in tool', () => {
  expect(Object.keys(REPEATED_CALLS).toSorted()).toEqual(heap.tools.toSorted());
});

it.each(Object.keys(REPEATED_CALLS))('%s leaves the heap as it was', TIMEOUT, async (tool) => {
  expect(heapProblems(tool, await heap.measure(tool, CALLS))).toEqual([]);
});

it('detects a tool that leaks its arguments', TIMEOUT, async () => {
  const problems = heapProblems(LEAKING_TOOL, await heap.measure(LEAKING_TOOL, CALLS));
  expect(problems).toEqual([expect.stringContaining('the heap grew by')]);
});
