import { createClient } from '@patchboard/client';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { aBoard } from '../../test/support/a-board.ts';
import { aFolder } from '../../test/support/a-folder.ts';
import { createPatchboard, failure, memory, sqlite, tool, ToolFailure } from '../index.ts';
import type { PolicyDocument, ToolInstance } from '../index.ts';

const add = tool({
  name: 'math.add',
  description: 'Add two numbers',
  parameters: z.object({ a: z.number(), b: z.number().default(10) }),
  execute: ({ a, b }) => ({ sum: a + b }),
});

describe('createPatchboard', () => {
  it('runs a tool through the same steps as the server, with defaults filled in', async () => {
    const board = await aBoard({ tools: [add] });
    const record = await board.call('math.add', { a: 1 });
    expect(record).toMatchObject({
      state: 'COMPLETED',
      result: { sum: 11 },
      input: { a: 1 },
      isError: false,
    });
    expect(record.auditTrail.map((entry) => entry.state)).toEqual(['PENDING', 'EXECUTING', 'COMPLETED']);
    expect(record.approval).toEqual({ required: false });
    await expect(board.call('math.add', { a: 'one' })).rejects.toThrow('args/a must be number');
    await expect(board.call('math.sub')).rejects.toMatchObject({ failure: { code: 'tool_not_found' } });
  });

  it('accepts one-line tools, class instances and factories', async () => {
    class Upper implements ToolInstance {
      readonly name = 'upper';
      readonly description = 'Upper case';
      readonly input_schema = {
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
      };
      exec({ text }: { text: string }): string {
        return text.toUpperCase();
      }
    }
    const echo = tool('echo', async (args: { text: string }) => args.text);
    const board = await aBoard({ tools: [echo, new Upper(), () => tool('now', () => 42)] });
    expect((await board.call('echo', { text: 'hi' })).result).toBe('hi');
    expect((await board.call('upper', { text: 'hi' })).result).toBe('HI');
    expect((await board.call('now')).result).toBe(42);
    expect((await board.invoke('upper', { text: 'hi' })).state).toBe('EXECUTING');
  });

  it('validates with zod what JSON Schema cannot express, and fails as input_invalid', async () => {
    const even = tool({
      name: 'even',
      parameters: z.object({ n: z.number().refine((n) => n % 2 === 0, 'must be even') }),
      execute: ({ n }) => n,
    });
    const board = await aBoard({ tools: [even] });
    expect(await board.call('even', { n: 3 })).toMatchObject({
      state: 'FAILED',
      code: 'input_invalid',
      error: 'args/n must be even',
    });
  });

  it('waits for an asynchronous zod schema', async () => {
    const known = tool({
      name: 'known',
      parameters: z.object({
        n: z.number().refine(async (n) => await Promise.resolve(n > 0), 'must be known'),
      }),
      execute: ({ n }) => n,
    });
    const board = await aBoard({ tools: [known] });
    for (const n of [1, 2]) expect(await board.call('known', { n })).toMatchObject({ result: n });
    expect(await board.call('known', { n: 0 })).toMatchObject({
      code: 'input_invalid',
      error: 'args/n must be known',
    });
  });

  it('enforces metadata: concurrency, time limit, retries, approval', async () => {
    let running = 0;
    let most = 0;
    let tries = 0;
    const single = tool({
      name: 'single',
      metadata: { concurrent: false },
      execute: async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      },
    });
    const never = tool({ name: 'never', metadata: { timeout: 60 }, execute: () => new Promise(() => {}) });
    const flaky = tool({
      name: 'flaky',
      metadata: { idempotent: true },
      execute: () => {
        tries += 1;
        if (tries === 1) throw new ToolFailure(failure('upstream_unreachable'));
        return tries;
      },
    });
    const risky = tool({ name: 'risky', metadata: { destructive: true }, execute: () => 'done' });
    const board = await aBoard({ tools: [single, never, flaky, risky], limits: { retryBaseMs: 1 } });
    await Promise.all([1, 2, 3].map(() => board.call('single')));
    expect(most).toBe(1);
    expect(await board.call('never')).toMatchObject({ state: 'TIMED_OUT', code: 'timeout' });
    expect(await board.call('flaky')).toMatchObject({ state: 'COMPLETED', result: 2 });
    const waiting = await board.invoke('risky');
    expect(waiting).toMatchObject({ state: 'APPROVAL_REQUIRED', approval: { required: true } });
    await board.decide(waiting.id, 'allow', { note: 'fine' });
    expect(await board.wait(waiting.id)).toMatchObject({
      state: 'COMPLETED',
      approval: { decision: 'allow', note: 'fine', decidedBy: 'operator' },
    });
  });

  it('enforces policy and hooks', async () => {
    const seen: unknown[] = [];
    const board = await aBoard({
      tools: [add],
      policy: { agents: { guest: { autoDenyTools: ['math.*'] } } },
      hooks: {
        preToolUse: (call) => void seen.push(call.input),
        postToolUse: () => ({ update: { result: { checked: true } } }),
      },
    });
    expect((await board.call('math.add', { a: 1, b: 2 })).result).toEqual({ sum: 3, checked: true });
    expect(seen).toEqual([{ a: 1, b: 2 }]);
    expect(await board.call('math.add', { a: 1 }, { agentId: 'guest' })).toMatchObject({
      state: 'DENIED',
      code: 'permission_denied',
    });
  });

  it('gives each agent its own run and tool list', async () => {
    const runOf = tool('run.of', (_args, { runId }) => runId);
    const board = await aBoard({ tools: [runOf], policy: { agents: { guest: { mode: 'deny' } } } });
    const call = async (options = {}): Promise<unknown> => (await board.call('run.of', {}, options)).result;
    const [own, writer, reader] = [
      await call(),
      await call({ agentId: 'writer' }),
      await call({ agentId: 'reader' }),
    ];
    expect(new Set([own, writer, reader]).size).toBe(3);
    expect([await call(), await call({ agentId: 'writer' })]).toEqual([own, writer]);
    expect([board.tools().length, board.tools({ agentId: 'writer' }).length]).toEqual([1, 1]);
    expect(board.tools({ agentId: 'guest' })).toEqual([]);
  });

  it('throws for an invalid policy', async () => {
    const policy = { default: { mode: 'never', autoDeny: ['x'] } };
    await expect(createPatchboard({ policy: policy as unknown as PolicyDocument })).rejects.toMatchObject({
      name: 'BoardError',
      failure: {
        code: 'body_invalid',
        message: expect.stringContaining('policy/default/mode must be one of'),
      },
    });
  });

  it('keeps calls across a restart with sqlite, and shows them over the network', async () => {
    const folder = await aFolder();
    const first = await createPatchboard({ tools: [add], store: sqlite(folder) });
    const { id } = await first.call('math.add', { a: 1 });
    await first.close();
    const second = await aBoard({ tools: [add], store: sqlite(folder) });
    expect(await second.get(id)).toMatchObject({ state: 'COMPLETED', result: { sum: 11 } });
    const { url } = await second.listen({ port: 0 });
    const client = createClient({ url });
    expect((await client.get(id)).result).toEqual({ sum: 11 });
    expect((await client.call('math.add', { a: 2 })).result).toEqual({ sum: 12 });
    await expect(second.listen({ port: 0 })).rejects.toThrow('already listening');
  });

  it('listens only once at a time, and again after that server is closed', async () => {
    const board = await aBoard();
    const both = await Promise.allSettled([board.listen({ port: 0 }), board.listen({ port: 0 })]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(both[1]).toMatchObject({ reason: { name: 'BoardError', failure: { code: 'conflict' } } });
    const first = (both[0] as PromiseFulfilledResult<{ close(): Promise<void>; url: string }>).value;
    const port = Number(new URL(first.url).port);
    const other = await aBoard();
    await expect(other.listen({ port })).rejects.toThrow('is in use');
    await first.close();
    const { url } = await other.listen({ port });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const again = await board.listen({ port: 0 });
    await first.close();
    await expect(board.listen({ port: 0 })).rejects.toThrow('already listening');
    expect((await fetch(`${again.url}/healthz`)).status).toBe(200);
  });

  it('does not listen after close(), also if listen() was pending', async () => {
    const board = await aBoard();
    const opening = board.listen({ port: 0 });
    await board.close();
    const { url } = await opening;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    await expect(board.listen({ port: 0 })).rejects.toThrow('the board was closed');
  });

  it('closes only once for several close() calls', async () => {
    const store = await memory().open();
    let closed = 0;
    store.close = () => {
      closed += 1;
      return Promise.resolve();
    };
    const board = await createPatchboard({ store: { folder: null, open: () => Promise.resolve(store) } });
    await Promise.all([board.close(), board.close()]);
    await board.close();
    expect(closed).toBe(1);
  });

  it('cancels', async () => {
    const board = await aBoard({
      tools: [
        tool(
          'wait',
          (_args, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
        ),
      ],
    });
    const { id } = await board.invoke('wait');
    expect(await board.cancel(id)).toMatchObject({ state: 'CANCELLED', isError: true });
    await expect(board.cancel(id)).rejects.toMatchObject({ failure: { code: 'conflict' } });
  });

  it('cancels a call on abort, and records nothing for an aborted signal', async () => {
    const stop = new AbortController();
    const execute = vi.fn((_args: object, { signal }: { signal: AbortSignal }) => {
      setImmediate(() => stop.abort(new Error('enough')));
      return new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    const board = await aBoard({ tools: [tool('wait', execute)] });
    expect(await board.call('wait', {}, { signal: stop.signal })).toMatchObject({ state: 'CANCELLED' });
    await expect(board.call('wait', {}, { signal: stop.signal })).rejects.toThrow('enough');
    expect(execute).toHaveBeenCalledTimes(1);
  });

  it('refuses a signal for invoke', async () => {
    const board = await aBoard({ tools: [add] });
    const options = { signal: AbortSignal.timeout(1000) } as object;
    await expect(board.invoke('add', {}, options)).rejects.toThrow('signal is not known');
  });

  it.each([
    ['a bad name', () => ({ ...add, name: 'bad name' }), 'bad tool name'],
    [
      'a bad schema',
      () => tool({ name: 'x', parameters: { type: 'strnig' }, execute: () => 1 }),
      'input schema of x',
    ],
  ])('refuses %s when the board is made', async (_title, make, message) => {
    await expect(createPatchboard({ tools: [make()] })).rejects.toThrow(message);
  });

  it('refuses a duplicate name', async () => {
    await expect(createPatchboard({ tools: [add, add] })).rejects.toThrow('tool registered twice');
  });
});
