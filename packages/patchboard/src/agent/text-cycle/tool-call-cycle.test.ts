import { describe, expect, it } from 'vitest';
import { aBoard } from '../../../test/support/a-board.ts';
import {
  createToolDiscoveryService,
  executeToolRequests,
  formatResultsForContext,
  parseToolRequests,
  processToolCallCycle,
  tool,
  ToolRegistry,
  type ExecuteOptions,
  type MethodMetadata,
  type Patchboard,
  type ToolCallConfig,
} from '../../index.ts';

/** A module in the style of other projects: methods plus separate metadata. */
class Notes {
  readonly id = 'my_notes';
  readonly name = 'Notes';
  readonly seen: unknown[] = [];
  methods: MethodMetadata[] = [
    {
      name: 'add',
      description: 'Keep a note',
      agentCallable: true,
      parameters: [
        { name: 'text', required: true },
        { name: 'count', type: 'integer', required: false },
      ],
      protocolConfig: { vcpCommand: 'KeepNote' },
    },
    { name: 'erase', description: 'Forget everything' },
    { name: 'wait', agentCallable: true },
    { name: 'fail', agentCallable: true },
    { name: 'gone', agentCallable: false },
  ];
  getMetadata(): { methods: MethodMetadata[] } {
    return { methods: this.methods };
  }
  add(args: Record<string, unknown>): string {
    this.seen.push(args);
    return `kept ${String(args['text'])}`;
  }
  erase(): string {
    throw new Error('must never run');
  }
  wait(): Promise<string> {
    return new Promise(() => {});
  }
  fail(): never {
    throw new Error('no paper');
  }
}

const ON: Partial<ToolCallConfig> = { enabled: true, defaultToolEnabled: true };

async function aNoteBoard(): Promise<{ board: Patchboard; notes: Notes; registry: ToolRegistry }> {
  const registry = new ToolRegistry();
  const notes = new Notes();
  registry.registerModule(notes);
  registry.register(tool('plain', () => ({ ok: true })));
  registry.register(
    tool({
      name: 'bash_run',
      parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
      execute: (args) => args['command'],
    }),
  );
  const board = await aBoard({ tools: registry });
  return { board, notes, registry };
}

function block(fields: Record<string, string>): string {
  const lines = Object.entries(fields).map(([key, value]) => `${key}:「始」${value}「末」`);
  return `<<<[TOOL_REQUEST]>>>\n${lines.join('\n')}\n<<<[END_TOOL_REQUEST]>>>`;
}

async function codeOf(
  board: Patchboard,
  fields: Record<string, string>,
  more: Partial<ExecuteOptions> = {},
): Promise<unknown> {
  const [result] = await executeToolRequests(parseToolRequests(block(fields)), {
    board,
    config: ON,
    ...more,
  });
  return result?.code ?? result?.result;
}

describe('a module', () => {
  it('is called by its methods, in both dialects, with string arguments unless a parameter has another type', async () => {
    const { board, notes } = await aNoteBoard();
    expect(await codeOf(board, { tool_name: 'my_notes_add', text: '7', count: '7' })).toBe('kept 7');
    expect(await codeOf(board, { tool_name: 'my_notes', command: 'KeepNote', text: '8' })).toBe('kept 8');
    expect(notes.seen).toEqual([{ text: '7', count: 7 }, { text: '8' }]);
    expect(board.tools().map(({ name }) => name)).toEqual([
      'bash_run',
      'my_notes_add',
      'my_notes_fail',
      'my_notes_wait',
      'plain',
    ]);
  });

  it('has a separate code for each of the six outcomes, and a record for every one', async () => {
    const { board } = await aNoteBoard();
    const confirm = { config: { ...ON, requireConfirmation: true }, onBeforeExecute: () => false };
    const asked = { tool_name: 'my_notes_add', text: 'x' };
    expect(await codeOf(board, asked, confirm)).toBe('approval_denied');
    expect(await codeOf(board, { tool_name: 'nonsense' })).toBe('name_invalid');
    expect(await codeOf(board, { tool_name: 'other_add' })).toBe('tool_not_found');
    expect(await codeOf(board, { tool_name: 'my_notes_burn' })).toBe('method_not_found');
    expect(await codeOf(board, { tool_name: 'my_notes_erase' })).toBe('method_not_callable');
    expect(await codeOf(board, { tool_name: 'my_notes_fail' })).toBe('tool_failed');
    expect(await codeOf(board, { tool_name: 'my_notes_wait' }, { config: { ...ON, timeout: 20 } })).toBe(
      'timeout',
    );
    const results = await executeToolRequests(parseToolRequests(block({ tool_name: 'my_notes_burn' })), {
      board,
      config: ON,
    });
    expect(await board.get(results[0]?.callId ?? '')).toMatchObject({
      state: 'FAILED',
      code: 'method_not_found',
    });
  });

  it('checks again when a call runs that the method is callable', async () => {
    const { board, notes } = await aNoteBoard();
    notes.methods = notes.methods.map((method) => ({ ...method, agentCallable: false }));
    expect(await codeOf(board, { tool_name: 'my_notes_add', text: 'x' })).toBe('method_not_callable');
    notes.methods = [];
    expect(await codeOf(board, { tool_name: 'my_notes_add', text: 'x' })).toBe('method_not_found');
    expect(notes.seen).toEqual([]);
  });

  it('is refused as a whole if a method name is ambiguous or is not a function', () => {
    const registry = new ToolRegistry();
    const module = (name: string): Notes =>
      Object.assign(new Notes(), {
        methods: [
          { name: 'add', agentCallable: true },
          { name, agentCallable: true },
        ],
      });
    expect(() => registry.registerModule(module('with_line'))).toThrow('no _');
    expect(() => registry.registerModule(module('toString'))).toThrow('has no method toString');
    expect(() => registry.registerModule(module('missing'))).toThrow('has no method missing');
    expect(registry.list()).toEqual([]);
    registry.registerModule(new Notes());
    expect(() => registry.registerModule(new Notes())).toThrow('registered twice');
    expect(registry.unregisterModule('my_notes')).toBe(true);
    expect(registry.list()).toEqual([]);
  });
});

describe('a tool that has the whole name', () => {
  it('receives `command` as an argument, unchanged', async () => {
    const { board } = await aNoteBoard();
    expect(await codeOf(board, { tool_name: 'bash_run', command: 'ls  ' })).toBe('ls  ');
  });
});

describe('the config', () => {
  it('is off by default: no tool is offered or run', async () => {
    const { board, registry } = await aNoteBoard();
    const text = block({ tool_name: 'plain' });
    expect(await processToolCallCycle(text, { board })).toMatchObject({ hasToolRequests: false });
    expect(createToolDiscoveryService(registry).generatePrompt()).toBe('');
    expect(await codeOf(board, { tool_name: 'plain' }, { config: {} })).toBe('permission_denied');
  });

  it('returns requests without running them in manual mode', async () => {
    const { board, notes } = await aNoteBoard();
    const text = block({ tool_name: 'my_notes_add', text: 'x' });
    const cycle = await processToolCallCycle(text, { board, config: { ...ON, mode: 'manual' } });
    expect(cycle).toMatchObject({ hasToolRequests: true, executionResults: [] });
    expect(cycle.parsedRequests).toMatchObject([{ toolName: 'my_notes_add', args: { text: 'x' } }]);
    expect(notes.seen).toEqual([]);
  });

  it('enables modules and tools, overriding the default', async () => {
    const { board } = await aNoteBoard();
    const off = { config: { ...ON, toolToggles: { my_notes: false } } };
    expect(await codeOf(board, { tool_name: 'my_notes_add', text: 'x' }, off)).toBe('permission_denied');
    const only = { config: { enabled: true, toolToggles: { plain: true } } };
    expect(await codeOf(board, { tool_name: 'plain' }, only)).toBe('{"ok":true}');
    expect(await codeOf(board, { tool_name: 'my_notes_add', text: 'x' }, only)).toBe('permission_denied');
  });

  it('enables single methods, overriding their module, for offering and for running', async () => {
    const { board, registry } = await aNoteBoard();
    const config = { ...ON, toolToggles: { my_notes: false, my_notes_add: true, plain: false } };
    expect(await codeOf(board, { tool_name: 'my_notes_add', text: 'x' }, { config })).toBe('kept x');
    expect(await codeOf(board, { tool_name: 'my_notes_fail' }, { config })).toBe('permission_denied');
    const prompt = createToolDiscoveryService(registry).generatePrompt({ config });
    expect(prompt).toContain('KeepNote');
    expect(prompt).not.toContain('「始」fail「末」');
    expect(prompt).not.toContain('「始」plain「末」');
  });

  it('ends a loop at maxIterations, and runs no request after it', async () => {
    const { board, notes } = await aNoteBoard();
    const text = block({ tool_name: 'my_notes_add', text: 'x' });
    const config = { ...ON, maxIterations: 2 };
    const goesOn: boolean[] = [];
    for (const iteration of [1, 2, 3]) {
      const cycle = await processToolCallCycle(text, { board, config, iteration });
      goesOn.push(cycle.shouldContinue);
      const [result] = cycle.executionResults;
      expect(result?.code).toBe(iteration === 3 ? 'conflict' : undefined);
      expect(await board.get(result?.callId ?? '')).toMatchObject({
        state: iteration === 3 ? 'FAILED' : 'COMPLETED',
      });
    }
    expect(goesOn).toEqual([true, false, false]);
    expect(notes.seen).toHaveLength(2);
    const done = await processToolCallCycle('That is all.', { board, config });
    expect(done).toMatchObject({ hasToolRequests: false, shouldContinue: false });
    const twenty = await processToolCallCycle(text, { board, config: ON, iteration: 20 });
    expect(twenty).toMatchObject({ shouldContinue: false, executionResults: [{ status: 'success' }] });
    await expect(processToolCallCycle(text, { board, config, iteration: 0 })).rejects.toThrow('iteration');
  });

  it('limits the time of a call', async () => {
    const { board } = await aNoteBoard();
    const config = { ...ON, timeout: 30 };
    const { executionResults } = await processToolCallCycle(block({ tool_name: 'my_notes_wait' }), {
      board,
      config,
    });
    expect(executionResults).toMatchObject([
      { code: 'timeout', result: expect.stringContaining('no result within 0.03s') as string },
    ]);
  });

  it('selects the protocol', async () => {
    const { board } = await aNoteBoard();
    const reply = JSON.stringify([{ type: 'tool_use', id: 'toolu_1', name: 'plain', input: {} }]);
    const cycle = await processToolCallCycle(reply, { board, config: { ...ON, protocol: 'anthropic' } });
    expect(cycle.executionResults).toMatchObject([{ requestId: 'toolu_1', status: 'success' }]);
    expect(await processToolCallCycle(reply, { board, config: ON })).toMatchObject({
      hasToolRequests: false,
    });
  });

  it('requires confirmation of each call, and the decision is recorded', async () => {
    const { board } = await aNoteBoard();
    const questions: string[] = [];
    const onBeforeExecute = ({ toolName }: { toolName: string }): boolean => questions.push(toolName) === 1;
    const text = block({ tool_name: 'plain' }) + block({ tool_name: 'my_notes_add', text: 'x' });
    const { executionResults } = await processToolCallCycle(text, {
      board,
      config: { ...ON, requireConfirmation: true },
      onBeforeExecute,
    });
    expect(questions).toEqual(['plain', 'my_notes_add']);
    expect(executionResults.map(({ status, code }) => code ?? status)).toEqual([
      'success',
      'approval_denied',
    ]);
    const record = await board.get(executionResults[1]?.callId ?? '');
    expect(record).toMatchObject({ state: 'DENIED', approval: { decision: 'deny', decidedBy: 'operator' } });
  });

  it('does not wait for a confirmation once the call was cancelled', async () => {
    const { board } = await aNoteBoard();
    const stop = new AbortController();
    const { executionResults } = await processToolCallCycle(block({ tool_name: 'plain' }), {
      board,
      config: { ...ON, requireConfirmation: true },
      signal: stop.signal,
      onBeforeExecute: () => {
        stop.abort();
        return new Promise(() => {});
      },
    });
    expect(executionResults).toMatchObject([{ status: 'error', code: 'cancelled' }]);
  });

  it.each([
    [true, ['begin 1', 'begin 2', 'end 1', 'end 2']],
    [false, ['begin 1', 'end 1', 'begin 2', 'end 2']],
  ])('runs requests in parallel: %s', async (parallelExecution, order) => {
    const events: string[] = [];
    const step = tool('step', async ({ n }: { n: string }) => {
      events.push(`begin ${n}`);
      await new Promise((resolve) => setImmediate(resolve));
      events.push(`end ${n}`);
    });
    const board = await aBoard({ tools: [step] });
    const text = block({ tool_name: 'step', n: '1' }) + block({ tool_name: 'step', n: '2' });
    await processToolCallCycle(text, { board, config: { ...ON, parallelExecution } });
    expect(events).toEqual(order);
  });

  it('throws with the name of an invalid member', async () => {
    const { board } = await aNoteBoard();
    for (const [config, key] of [
      [{ timeout: 0 }, 'timeout'],
      [{ mode: 'both' }, 'mode'],
      [{ maxIterations: 1.5 }, 'maxIterations'],
      [{ requireConfirm: true }, 'requireConfirm'],
      [{ protocol: 'smoke' }, 'protocol'],
      [{ toolToggles: { a: 'yes' } }, 'toolToggles'],
    ] as const)
      await expect(processToolCallCycle('', { board, config: config as never })).rejects.toThrow(
        `toolCallConfig.${key}`,
      );
  });
});

describe('a cycle', () => {
  it('returns results of valid and damaged requests in order, and formats no success of a noReply request', async () => {
    const { board } = await aNoteBoard();
    const text = [
      block({ tool_name: 'plain', request_id: 'one', archery: 'no_reply' }),
      '<<<[TOOL_REQUEST]>>>path:「始」x「末」<<<[END_TOOL_REQUEST]>>>',
      block({ tool_name: 'my_notes_add', count: 'many' }),
    ].join('\n');
    const { executionResults } = await processToolCallCycle(text, { board, config: ON });
    expect(executionResults.map(({ requestId, status }) => [requestId, status])).toEqual([
      ['one', 'success'],
      ['call-1', 'error'],
      ['call-2', 'error'],
    ]);
    const context = formatResultsForContext(executionResults);
    expect(context).not.toContain('request_id:「始」one「末」');
    expect(context).toContain('line 6, column 1: the request names no tool');
    expect(context).toContain('"count" must be an integer; "text" is required');
  });

  it('returns a result for a hundred damaged requests and a count of the others', async () => {
    const { board } = await aNoteBoard();
    const reply = '<<<[TOOL_REQUEST]>>>x:「始」1「末」<<<[END_TOOL_REQUEST]>>>\n'.repeat(150);
    const { parseErrors, executionResults } = await processToolCallCycle(reply, { board, config: ON });
    expect(parseErrors).toHaveLength(101);
    expect(executionResults).toHaveLength(101);
    expect(executionResults.at(-1)).toMatchObject({
      status: 'error',
      result: expect.stringContaining(
        'line 101, column 1: 50 more problems of this reply are not listed',
      ) as string,
    });
  });

  it('ends a loop if there is no result for the model', async () => {
    const { board } = await aNoteBoard();
    const quiet = (tool_name: string) => block({ tool_name, archery: 'no_reply' });
    const succeeded = await processToolCallCycle(quiet('plain'), { board, config: ON });
    expect(succeeded).toMatchObject({ executionResults: [{ status: 'success' }], shouldContinue: false });
    const failed = await processToolCallCycle(quiet('plain') + quiet('my_notes_fail'), { board, config: ON });
    expect(failed.shouldContinue).toBe(true);
  });

  it('cancels open calls on abort', async () => {
    const { board } = await aNoteBoard();
    const stop = new AbortController();
    const running = executeToolRequests(parseToolRequests(block({ tool_name: 'my_notes_wait' })), {
      board,
      config: ON,
      signal: stop.signal,
    });
    stop.abort();
    expect((await running)[0]?.code).toBe('cancelled');
  });
});
