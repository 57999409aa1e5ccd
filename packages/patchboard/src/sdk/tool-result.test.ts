import { FAILURE_CODES } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { aBoard } from '../../test/support/a-board.ts';
import { failure, tool, ToolFailure, type BoardOptions, type ToolCallRecord } from '../index.ts';
import { LANGUAGES } from './advice.ts';
import { toSnapshot } from './tool-call-snapshot.ts';
import { toolError } from './tool-error.ts';
import { refusedToolResult, toToolResult } from './tool-result.ts';

/** Runs one call and returns its record. */
async function recordOf(execute: () => unknown, options: BoardOptions = {}): Promise<ToolCallRecord> {
  const board = await aBoard({ ...options, tools: [tool('t', execute)] });
  return await board.call('t', { text: 'x'.repeat(300), list: Array.from({ length: 30 }, (_, n) => n) });
}

describe('toolError', () => {
  it.each(LANGUAGES)('has a recommendation for every code, in %s', (language) => {
    for (const code of FAILURE_CODES) {
      const error = toolError(failure(code), language);
      expect([error.ok, error.code]).toEqual([false, code]);
      expect(error.recommendations.length).toBeGreaterThan(0);
      // Only the Chinese texts contain Chinese characters.
      expect(/\p{Script=Han}/u.test(error.error + error.recommendations.join(''))).toBe(language === 'zh');
    }
  });

  it("puts the tool's own recommendations first, and keeps outcome and note", () => {
    const given = failure('tool_failed', 'no such row', {
      recommendations: ['list the rows first'],
      outcome: 'unknown',
      note: 'not today',
    });
    expect(toolError(given, 'zh')).toMatchObject({
      error: '工具报告失败:no such row',
      recommendations: ['list the rows first', '阅读错误,修改参数或换一种做法'],
      outcome: 'unknown',
      note: 'not today',
    });
  });
});

describe('toToolResult', () => {
  it('keeps the value of a result', async () => {
    const record = await recordOf(() => ({ rows: [1, 2] }));
    expect(toToolResult('toolu_1', record)).toEqual({
      type: 'tool_result',
      tool_use_id: 'toolu_1',
      content: { rows: [1, 2] },
      is_error: false,
    });
  });

  it('returns a failure in the uniform shape', async () => {
    const record = await recordOf(() => {
      throw new ToolFailure(failure('upstream_unreachable', 'no answer from example.com'));
    });
    expect(toToolResult('toolu_1', record)).toMatchObject({
      is_error: true,
      content: {
        ok: false,
        error: 'no answer from example.com',
        code: 'upstream_unreachable',
        recommendations: ['try again later', 'check the address of the service'],
      },
    });
  });

  it("returns a denying hook's own result, if it has one", async () => {
    const hooks = {
      preToolUse: () => ({ decision: 'deny', toolResult: { ok: false, error: 'no' } }) as const,
    };
    const record = await recordOf(() => 1, { hooks });
    expect(toToolResult('toolu_1', record)).toMatchObject({
      is_error: true,
      content: { ok: false, error: 'no' },
    });
  });

  it('truncates a result that is too large for a model; the call keeps all of it', async () => {
    const record = await recordOf(() => ({ text: '字'.repeat(20_000) }));
    const { content } = toToolResult('toolu_1', record);
    expect(content).toMatchObject({ truncated: true, call_id: record.id, total_bytes: 60_011 });
    expect(Buffer.byteLength(JSON.stringify(content))).toBeLessThan(33_000);
    expect(record.result).toEqual({ text: '字'.repeat(20_000) });
    const emoji = await recordOf(() => '🙂'.repeat(100));
    expect(toToolResult('x', emoji, { maxBytes: 99 }).content).toMatchObject({ preview: '🙂'.repeat(16) });
    expect(toToolResult('x', emoji, { maxBytes: 400 }).content).toBe('🙂'.repeat(100));
  });

  it('formats a refusal without a call', () => {
    expect(
      refusedToolResult('toolu_1', failure('tool_not_found', 'tool not found: x'), { language: 'zh' }),
    ).toEqual({
      type: 'tool_result',
      tool_use_id: 'toolu_1',
      is_error: true,
      content: {
        ok: false,
        error: '这里没有可以调用的同名工具:tool not found: x',
        code: 'tool_not_found',
        recommendations: ['使用列表中已有的工具名', '检查工具是否已注册并允许调用'],
      },
    });
  });
});

describe('toSnapshot', () => {
  it('contains a preview of the input, and only the members that events need', async () => {
    const record = await recordOf(() => ({ done: true }));
    const snapshot = toSnapshot(record);
    expect(snapshot.inputPreview).toEqual({
      text: `${'x'.repeat(200)}… (300 characters)`,
      list: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, '… 20 more items'],
    });
    expect(snapshot).toMatchObject({ id: record.id, name: 't', state: 'COMPLETED', result: { done: true } });
    expect(Object.keys(snapshot)).not.toContain('input');
  });

  it('contains the metadata of a hook that required the approval', async () => {
    const board = await aBoard({
      tools: [tool('t', () => 1)],
      hooks: { preToolUse: () => ({ decision: 'ask', meta: { risk: 'high', reason: 'rm -rf' } }) },
    });
    const { approval } = toSnapshot(await board.invoke('t'));
    expect(approval).toEqual({ required: true, reason: 'rm -rf', meta: { risk: 'high', reason: 'rm -rf' } });
  });
});
