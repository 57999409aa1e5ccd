import { describe, expect, it } from 'vitest';
import { eventsOf, scenes } from '../../../test/support/agent-scene.ts';
import { anEngine, accepted, aPrincipal, aRequest, aServerTool } from '../../../test/support/an-engine.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { CallState } from '../call/call.ts';
import type { ServerTool } from '../tools/server-tool.ts';
import { tool } from '../../index.ts';

const { aScene } = scenes();
const agent = aPrincipal();

/** How a call of an in-process tool that returns `value` ends. */
async function endOf(
  value: unknown,
  given: Partial<ServerTool> & { boardHooks?: readonly Hooks[]; resultBytes?: number } = {},
): Promise<CallState> {
  const { boardHooks = [], resultBytes = 10_000, ...more } = given;
  const { engine } = await anEngine({
    tools: [aServerTool({ name: 'toy.fail', execute: () => value, ...more })],
    hooks: boardHooks,
    limits: { resultBytes },
  });
  const { id } = accepted(await engine.submit(aRequest({ toolName: 'toy.fail' }), agent));
  await settled();
  return (await engine.calls.find(agent, id))!.state;
}

const reported = {
  ok: false,
  error: 'File not found: /a',
  recommendations: ['check the path'],
  tried: ['/a', '/b'],
};

describe('a failure that an in-process tool returns', () => {
  it('ends the call FAILED with its message, its recommendations and the whole value', async () => {
    expect(await endOf(reported)).toEqual({
      name: 'FAILED',
      resultDigest: null,
      error: {
        code: 'tool_failed',
        message: 'File not found: /a',
        retryable: false,
        recommendations: ['check the path'],
        toolResult: reported,
      },
    });
  });

  it.each<[string, unknown, string]>([
    ['no error', { ok: false }, 'the tool reported a failure'],
    ['an error that is no text', { ok: false, error: { status: 404 } }, '{"status":404}'],
    ['an error that JSON leaves out', { ok: false, error: () => 1 }, 'the tool reported a failure'],
    ['an error that was caught', { ok: false, error: new Error('boom') }, 'boom'],
    ['_thrownError: true', { _thrownError: true, error: 'boom' }, 'boom'],
    ['an error as _thrownError', { _thrownError: new Error('boom') }, 'boom'],
    ['a text as _thrownError', { _thrownError: 'boom' }, 'boom'],
  ])('is one with %s', async (_what, value, message) => {
    expect(await endOf(value)).toMatchObject({ name: 'FAILED', error: { code: 'tool_failed', message } });
  });

  it('writes an error that was caught as its message', async () => {
    expect(await endOf({ ok: false, error: new Error('boom') })).toMatchObject({
      error: { toolResult: { ok: false, error: 'boom' } },
    });
  });

  it('keeps only recommendations that are texts, and no more of a message than of one thrown', async () => {
    const state = await endOf(
      { ok: false, error: 'x'.repeat(9000), recommendations: ['a', 1, null] },
      { resultBytes: 100_000 },
    );
    expect(state).toMatchObject({
      error: { message: `${'x'.repeat(8192)}… (9000 characters)`, recommendations: ['a'] },
    });
    expect(await endOf({ ok: false, error: 'e', recommendations: 'ask' })).not.toHaveProperty(
      'error.recommendations',
    );
  });

  it('is held to the size limit, and to JSON', async () => {
    const large = { ok: false, error: 'e', rows: 'x'.repeat(20_000) };
    const state = await endOf(large);
    expect(state).toMatchObject({ name: 'FAILED', error: { code: 'tool_failed' } });
    expect(JSON.stringify(state).length).toBeLessThan(1000);
    expect(await endOf({ ok: false, error: 'e', n: 1n })).toMatchObject({
      name: 'FAILED',
      error: { code: 'tool_failed', message: expect.stringContaining('cannot be written as JSON') as string },
    });
  });

  it.each<[string, unknown]>([
    ['ok: true', { ok: true, error: 'none' }],
    ['ok: null', { ok: null }],
    ['a list', [{ ok: false }]],
    ['an error beside a result', { error: 'of an earlier run' }],
    ['_thrownError: false', { _thrownError: false }],
  ])('is not one with %s', async (_what, value) => {
    expect(await endOf(value)).toMatchObject({ name: 'COMPLETED', resultJson: JSON.stringify(value) });
  });

  it('needs not fit the output schema, which is about results', async () => {
    const outputSchema = { type: 'object', required: ['rows'] };
    expect(await endOf(reported, { outputSchema })).toMatchObject({
      name: 'FAILED',
      error: { code: 'tool_failed', message: 'File not found: /a' },
    });
  });

  it('is looked for after postToolUse: a hook can see it, mend it or make it', async () => {
    const seen: unknown[] = [];
    const mending: Hooks = {
      postToolUse: (_call, result) => {
        seen.push(result);
        return { replace: { content: { rows: [] } } };
      },
    };
    expect(await endOf(reported, { boardHooks: [mending] })).toMatchObject({ name: 'COMPLETED' });
    expect(seen).toEqual([reported]);
    const making: Hooks = { postToolUse: () => ({ update: { result: { ok: false, error: 'too old' } } }) };
    expect(await endOf({ rows: 1 }, { boardHooks: [making] })).toMatchObject({
      name: 'FAILED',
      error: {
        code: 'tool_failed',
        message: 'too old',
        toolResult: { rows: 1, ok: false, error: 'too old' },
      },
    });
    const schema = { type: 'object', required: ['rows'] };
    const breaking: Hooks = { postToolUse: () => ({ replace: { content: {} } }) };
    expect(await endOf(reported, { boardHooks: [breaking], outputSchema: schema })).toMatchObject({
      error: { code: 'output_invalid' },
    });
  });

  it('is one too if a hook has it at hand for an in-process tool', async () => {
    const supplying: Hooks = { preToolUse: () => ({ result: reported }) };
    expect(await endOf(1, { boardHooks: [supplying] })).toMatchObject({
      name: 'FAILED',
      error: { code: 'tool_failed', toolResult: reported },
    });
  });

  it('is data if a client returns it', async () => {
    const { engine } = await anEngine({ hooks: [{ postToolUse: () => undefined }] });
    await engine.clientTools.register('default', 'phone', [{ name: 'camera', schema: { type: 'object' } }]);
    const { id } = accepted(await engine.submit(aRequest({ toolName: 'camera' }), agent));
    const result = { status: 'SUCCEEDED', result: reported, error: null, attemptToken: null } as const;
    await engine.clients.submit(aPrincipal({ clientId: 'phone' }), id, result);
    expect((await engine.calls.find(agent, id))?.state).toMatchObject({
      name: 'COMPLETED',
      resultJson: JSON.stringify(reported),
    });
  });
});

describe('a model that calls a tool which returns a failure', () => {
  it('reads the value as an error, and the agent tells of tool:error', async () => {
    const read = tool('fs.read', () => reported);
    const script = [{ calls: [{ name: 'fs.read', args: {} }] }, 'It is not there.'];
    const { agent: reader } = await aScene(script, {}, { tools: [read] });
    const reply = await reader.send('Read /a.');
    expect(reply.calls).toMatchObject([{ state: 'FAILED', code: 'tool_failed', isError: true }]);
    expect(reader.messages[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: expect.any(String) as string, content: reported, is_error: true },
    ]);
    const errors = (await eventsOf(reader)).filter(({ type }) => type === 'tool:error');
    expect(errors).toMatchObject([{ error: 'File not found: /a', call: { state: 'FAILED' } }]);
  });
});
