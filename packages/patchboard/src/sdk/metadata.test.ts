import { describe, expect, it } from 'vitest';
import { aBoard } from '../../test/support/a-board.ts';
import { failure, tool, ToolFailure, ToolRegistry, type HookCall, type ToolMetadata } from '../index.ts';

/** Submits six calls, each in its given run, and returns the maximum number that ran concurrently. */
async function maxConcurrency(metadata: ToolMetadata, runOf: (index: number) => string): Promise<number> {
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  let inside = 0;
  let most = 0;
  const t = tool({
    name: 't',
    metadata,
    execute: async () => {
      most = Math.max(most, ++inside);
      await gate;
      inside -= 1;
    },
  });
  const board = await aBoard({ tools: [t] });
  const receipts = await Promise.all(
    Array.from({ length: 6 }, (_, index) => board.invoke('t', {}, { runId: runOf(index) })),
  );
  open();
  for (const { id } of receipts) expect((await board.wait(id)).state).toBe('COMPLETED');
  const begun = receipts.filter(({ state }) => state === 'EXECUTING').length;
  expect(most).toBe(begun);
  return begun;
}

const oneRun = (): string => 'run_1';
const ownRun = (index: number): string => `run_${index}`;

describe('metadata', () => {
  it('version: is part of the contract', async () => {
    const versionOf = async (version: string): Promise<string | undefined> => {
      const board = await aBoard({ tools: [tool({ name: 't', metadata: { version }, execute: () => 1 })] });
      expect(board.tools()[0]?.metadata).toEqual({ version });
      return board.tools()[0]?.version;
    };
    expect(await versionOf('1.0.0')).toBe(await versionOf('1.0.0'));
    expect(await versionOf('1.0.0')).not.toBe(await versionOf('1.0.1'));
  });

  it('version: what was approved for one does not run as another', async () => {
    const ran: string[] = [];
    const pay = (version: string) =>
      tool({ name: 'pay', metadata: { version, destructive: true }, execute: () => void ran.push(version) });
    const registry = new ToolRegistry();
    registry.register(pay('1.0.0'));
    const board = await aBoard({ tools: registry });
    const { id } = await board.invoke('pay');
    registry.unregister('pay');
    registry.register(pay('2.0.0'));
    await board.decide(id, 'allow');
    expect(await board.wait(id)).toMatchObject({ state: 'DENIED', failure: { outcome: 'not_started' } });
    expect(ran).toEqual([]);
  });

  it('task: is part of the registered tool, and takes two values', async () => {
    const long = tool({ name: 'long', metadata: { task: 'always' }, execute: () => 1 });
    const board = await aBoard({ tools: [long, tool('short', () => 2)] });
    expect(board.tools().map(({ name, task }) => [name, task])).toEqual([
      ['long', 'always'],
      ['short', null],
    ]);
    const wrong = { task: 'sometimes' } as unknown as ToolMetadata;
    expect(() => tool({ name: 't', metadata: wrong, execute: () => 1 })).toThrow('metadata.task');
  });

  it('tags: select tools, and hooks see them', async () => {
    const seen: HookCall[] = [];
    const read = tool({
      name: 'read',
      metadata: { version: '1.0.0', tags: ['files', 'read'], readonly: true },
      execute: () => 1,
    });
    const board = await aBoard({
      tools: [read, tool('other', () => 2)],
      hooks: { preToolUse: (call) => void seen.push(call), postToolUse: (call) => void seen.push(call) },
    });
    expect(board.tools({ tag: 'files' }).map(({ name }) => name)).toEqual(['read']);
    expect(board.tools({ tag: 'none' })).toEqual([]);
    await board.call('read');
    expect(seen.map(({ annotations, metadata }) => [annotations, metadata])).toEqual([
      [{ readonly: true }, { version: '1.0.0', tags: ['files', 'read'] }],
      [{ readonly: true }, { version: '1.0.0', tags: ['files', 'read'] }],
    ]);
  });

  it('timeout: ends the call for every waiter although the tool ignores its signal', async () => {
    let signal: AbortSignal | undefined;
    const deaf = tool({
      name: 'deaf',
      metadata: { timeout: 30 },
      execute: (_args, context) => {
        ({ signal } = context);
        return new Promise(() => {});
      },
    });
    const board = await aBoard({ tools: [deaf] });
    const { id } = await board.invoke('deaf');
    const both = await Promise.all([board.wait(id), board.wait(id)]);
    expect(both.map(({ state, code }) => [state, code])).toEqual([
      ['TIMED_OUT', 'timeout'],
      ['TIMED_OUT', 'timeout'],
    ]);
    expect(signal?.aborted).toBe(true);
  });

  it('concurrent: three of a run at once by default, readonly or not', async () => {
    expect(await maxConcurrency({}, oneRun)).toBe(3);
    expect(await maxConcurrency({ readonly: true }, oneRun)).toBe(3);
    expect(await maxConcurrency({}, ownRun)).toBe(6);
  });

  it('concurrent: false is one at a time across all runs', async () => {
    expect(await maxConcurrency({ concurrent: false }, ownRun)).toBe(1);
  });

  it.each([
    ['destructive', { destructive: true }],
    ['requiresApproval', { requiresApproval: true }],
  ])('%s: requires approval', async (_name, metadata) => {
    let ran = 0;
    const board = await aBoard({ tools: [tool({ name: 't', metadata, execute: () => (ran += 1) })] });
    const { id, state } = await board.invoke('t');
    expect([state, ran]).toEqual(['APPROVAL_REQUIRED', 0]);
    await board.decide(id, 'allow');
    expect(await board.wait(id)).toMatchObject({ state: 'COMPLETED', result: 1 });
  });

  it('idempotent: only such a tool is retried after a transient failure, with the same idempotency key', async () => {
    const keys: [string, number][] = [];
    const flaky = (name: string, idempotent: boolean) =>
      tool({
        name,
        metadata: { idempotent },
        execute: (_args, { idempotencyKey, attempt }) => {
          keys.push([idempotencyKey, attempt]);
          if (attempt === 1) throw new ToolFailure(failure('upstream_unreachable'));
          return 'done';
        },
      });
    const board = await aBoard({
      tools: [flaky('again', true), flaky('once', false)],
      limits: { retryBaseMs: 1 },
    });
    const { id, state } = await board.call('again');
    expect([state, keys]).toEqual([
      'COMPLETED',
      [
        [id, 1],
        [id, 2],
      ],
    ]);
    expect(await board.call('once')).toMatchObject({ state: 'FAILED', code: 'upstream_unreachable' });
    expect(keys).toHaveLength(3);
  });
});
