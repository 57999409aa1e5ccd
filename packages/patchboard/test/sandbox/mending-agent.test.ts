import { describe, expect, it } from 'vitest';
import type { Script, SeenRequest } from '../../src/testing/index.ts';
import { scenes } from '../support/agent-scene.ts';

const { aScene } = scenes();
const POLICY = { default: { autoAllowTools: ['fs_*', 'bash_*'] } };
const TEST = `import assert from 'node:assert';
import { test } from 'node:test';
import { sum } from './sum.mjs';
test('adds', () => assert.equal(sum(2, 3), 5));
`;

/** The first message of the user determines the model. */
function promptOf({ body }: SeenRequest): string {
  const { messages } = body as { messages: { role: string; content: unknown }[] };
  return JSON.stringify(messages.find(({ role }) => role === 'user')?.content);
}

/** What a model would do: look, run, read, mend, run again. */
const STEPS = [
  { name: 'fs_glob', args: { pattern: '*.mjs' } },
  { name: 'bash_run', args: { command: 'node --test' } },
  { name: 'fs_read', args: { path: 'sum.mjs' } },
  { name: 'fs_edit', args: { path: 'sum.mjs', edits: [{ old: 'a - b', new: 'a + b' }] } },
  { name: 'bash_run', args: { command: 'node --test' } },
];

function mending(
  reply: string,
): (turn: number) => ReturnType<Extract<Script, (...given: never[]) => unknown>> {
  return (turn) => (STEPS[turn] === undefined ? reply : { calls: [STEPS[turn]] });
}

function turnOf({ body }: SeenRequest): number {
  const { messages } = body as { messages: { role: string }[] };
  return messages.filter(({ role }) => role === 'assistant').length;
}

async function aRepository(board: Awaited<ReturnType<typeof aScene>>['board'], runId: string): Promise<void> {
  const as = { runId, agentId: 'agent' };
  await board.call('fs_write', { path: 'sum.mjs', content: 'export const sum = (a, b) => a - b;\n' }, as);
  await board.call('fs_write', { path: 'sum.test.mjs', content: TEST }, as);
}

describe('an agent in a workspace', () => {
  it('mends a failing test in a small repository, from end to end', async () => {
    const { agent, board } = await aScene(
      (request) => mending('It adds now.')(turnOf(request)),
      {},
      {
        workspace: {},
        policy: POLICY,
      },
    );
    await aRepository(board, agent.id);
    const { text, calls } = await agent.send('mend the test');
    expect(text).toBe('It adds now.');
    expect(calls.map(({ name, state }) => [name, state])).toEqual(
      STEPS.map(({ name }) => [name, 'COMPLETED']),
    );
    expect(calls[1]?.result).toMatchObject({ exitCode: 1 });
    expect(calls[3]?.result).toMatchObject({
      replacements: 1,
      diff: expect.stringContaining('+export const sum = (a, b) => a + b;') as string,
    });
    expect(calls[4]?.result).toMatchObject({ exitCode: 0 });
    expect(calls.every(({ sandbox }) => sandbox === 'bubblewrap')).toBe(true);
  });

  it('gives the task to a sub-agent, which works in the same folder and whose calls are children', async () => {
    const script: Script = (request) => {
      if (promptOf(request).includes('mend it')) return mending('mended')(turnOf(request));
      return turnOf(request) === 0
        ? { calls: [{ name: 'task_run', args: { task: 'mend it', context: 'it adds' } }] }
        : 'done';
    };
    const { agent, board } = await aScene(script, {}, { workspace: {}, policy: POLICY });
    await aRepository(board, agent.id);
    const { calls } = await agent.send('have the test mended');
    expect(calls).toMatchObject([
      { name: 'task_run', state: 'COMPLETED', result: { text: 'mended', calls: 5 } },
    ]);
    const { agentId } = calls[0]!.result as { agentId: string };
    const children = await board.host.engine.calls.list(
      board.host.principal('embedded'),
      { runId: agentId },
      null,
      10,
    );
    expect(children.items.map(({ parentCallId }) => parentCallId)).toEqual(Array(5).fill(calls[0]?.id));
    const read = await board.call('fs_read', { path: 'sum.mjs' }, { runId: agent.id, agentId: 'agent' });
    expect(read.result).toMatchObject({ content: 'export const sum = (a, b) => a + b;\n' });
  });

  it('refuses a task from a caller that is not an agent', async () => {
    const { board } = await aScene(['unused'], {}, { workspace: {} });
    expect(await board.call('task_run', { task: 'anything' })).toMatchObject({
      state: 'FAILED',
      error: 'only an agent of this process can call this tool',
    });
  });
});
