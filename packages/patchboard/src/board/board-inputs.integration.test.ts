import { describe, expect, it, onTestFinished } from 'vitest';
import { aBoard } from '../../test/support/a-board.ts';
import { aFolder } from '../../test/support/a-folder.ts';
import { createPatchboard, DECLINE_INPUT, inputRequired, sqlite, tool } from '../index.ts';
import type { Log, PendingInputRequest } from '../index.ts';

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const REQUEST = { message: 'Which city?', schema } as const;
const held = tool('ask', (_args, context) => context.requestInput(REQUEST));
const returned = tool('ask', (_args, { inputs }) =>
  inputs['input'] === undefined ? inputRequired(REQUEST) : inputs['input'].content,
);
const PARIS = { city: 'Paris' };

function linesOf(): { log: Log; lines: unknown[] } {
  const lines: unknown[] = [];
  const note: Log['error'] = (event, fields) => {
    if (event === 'board.input_handler_failed') lines.push(fields);
  };
  return { log: { info: note, warn: note, error: note }, lines };
}

describe.each([
  ['held', held],
  ['returned', returned],
])('a board whose tool asks with a %s request', (_kind, ask) => {
  it('calls onInputRequest and passes its content to the tool', async () => {
    const board = await aBoard({ tools: [ask] });
    const seen: PendingInputRequest[] = [];
    const record = await board.call(
      'ask',
      {},
      {
        onInputRequest: async (request) => {
          seen.push(request);
          return await Promise.resolve(PARIS);
        },
      },
    );
    expect(seen).toEqual([
      {
        id: 'in_1',
        kind: 'form',
        callId: record.id,
        toolName: 'ask',
        ...REQUEST,
        expiresAt: expect.any(Number) as number,
      },
    ]);
    expect(record).toMatchObject({
      state: 'COMPLETED',
      result: { city: 'Paris' },
      inputs: [{ id: 'in_1', action: 'accept', content: { city: 'Paris' } }],
    });
    expect(record).not.toHaveProperty('inputRequest');
  });

  it('fails with input_unavailable if the caller has no onInputRequest', async () => {
    const board = await aBoard({ tools: [ask] });
    expect(await board.call('ask')).toMatchObject({ state: 'FAILED', code: 'input_unavailable' });
    const { id } = await board.invoke('ask');
    expect(await board.wait(id)).toMatchObject({ state: 'FAILED', code: 'input_unavailable' });
  });

  it.each<[string, () => unknown]>([
    ['declines', () => DECLINE_INPUT],
    [
      'throws',
      () => {
        throw new Error('the form was closed');
      },
    ],
    ['returns nothing', () => undefined],
    ['returns content that does not fit', () => ({ city: 7 })],
  ])('ends with input_declined if onInputRequest %s', async (how, onInputRequest) => {
    const { log, lines } = linesOf();
    const board = await aBoard({ tools: [ask], log });
    const record = await board.call('ask', {}, { onInputRequest });
    expect(record).toMatchObject({ state: 'FAILED', code: 'input_declined' });
    expect(lines).toHaveLength(how === 'declines' ? 0 : 1);
    if (how === 'throws') expect(lines).toEqual([{ tool_call_id: record.id, error: 'the form was closed' }]);
  });

  it('takes a response later, once, and only as the agent that made the call', async () => {
    const board = await aBoard({ tools: [ask] });
    const options = { acceptsInput: true, agentId: 'planner' };
    const { id } = await board.invoke('ask', {}, options);
    const waiting = await until(async () => {
      const record = await board.get(id);
      return record?.inputRequest === undefined ? undefined : record;
    });
    expect(waiting).toMatchObject({ state: 'INPUT_REQUIRED', inputRequest: { id: 'in_1', ...REQUEST } });
    const response = { id: 'in_1', content: PARIS };
    await expect(board.respondInput(id, response)).rejects.toMatchObject({
      failure: { code: 'permission_denied' },
    });
    await expect(board.respondInput(id, { content: PARIS } as never)).rejects.toThrow('id must be a text');
    await board.respondInput(id, response, { agentId: 'planner' });
    expect(await board.wait(id)).toMatchObject({ state: 'COMPLETED', result: { city: 'Paris' } });
    await expect(board.respondInput(id, response, { agentId: 'planner' })).rejects.toMatchObject({
      failure: { code: 'conflict' },
    });
  });
});

describe('a board over sqlite', () => {
  it('offers a returned request to the caller that sends the idempotency key again, after a restart', async () => {
    const folder = await aFolder();
    const before = await createPatchboard({ tools: [returned], store: sqlite(folder) });
    const options = { idempotencyKey: 'key-1', runId: 'run_1' };
    const { id } = await before.invoke('ask', {}, { ...options, acceptsInput: true });
    await until(async () => (await before.get(id))?.inputRequest);
    await before.close();
    const after = await createPatchboard({ tools: [returned], store: sqlite(folder) });
    onTestFinished(() => after.close());
    const record = await after.call('ask', {}, { ...options, onInputRequest: () => PARIS });
    expect(record).toMatchObject({ id, state: 'COMPLETED', result: { city: 'Paris' } });
  });
});

async function until<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
