import { describe, expect, it } from 'vitest';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { Message } from '../../protocols/messages.ts';
import { CREATED, loadResumeState, type ResumeState } from './resume-state.ts';
import { MESSAGE, PARTIAL } from './transcript.ts';

const QUESTION: Message = { role: 'user', content: [{ type: 'text', text: '1 + 2?' }] };
const REPLY: Message = {
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'a', name: 'math.add', input: {}, callId: 'tc_1' }],
};
const RESULT: Message = {
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 'a', content: 3, is_error: false }],
};

type Entries = readonly [kind: string, body: unknown][];

async function messagesOf(...entries: Entries): Promise<readonly Message[]> {
  return (await stateOf(...entries)).messages;
}

async function stateOf(...entries: Entries): Promise<ResumeState> {
  const store = memoryStore({ digest: nodeDigest });
  const drafts = [[CREATED, { name: 'ann' }] as const, ...entries].map(([kind, body]) => {
    return { kind, body: JSON.stringify(body) };
  });
  await store.appendJournal('talk', 0, drafts);
  return await loadResumeState(store, 'talk');
}

describe('a partial reply in a journal', () => {
  it('is the last message after a crash', async () => {
    expect(await messagesOf([MESSAGE, QUESTION], [PARTIAL, REPLY])).toEqual([QUESTION, REPLY]);
  });

  it('stays when the results of its calls follow, as after a resume', async () => {
    const messages = await messagesOf([MESSAGE, QUESTION], [PARTIAL, REPLY], [MESSAGE, RESULT]);
    expect(messages).toEqual([QUESTION, REPLY, RESULT]);
  });

  it('is replaced by the complete reply', async () => {
    const messages = await messagesOf(
      [MESSAGE, QUESTION],
      [PARTIAL, REPLY],
      [MESSAGE, REPLY],
      [MESSAGE, RESULT],
    );
    expect(messages).toEqual([QUESTION, REPLY, RESULT]);
  });

  it('is dropped when the conversation goes on without it', async () => {
    const messages = await messagesOf([MESSAGE, QUESTION], [PARTIAL, REPLY], [MESSAGE, QUESTION]);
    expect(messages).toEqual([QUESTION, QUESTION]);
  });
});

describe('a call that waited for approval', () => {
  const event = (type: string, callId: string) =>
    ['event', { type, channel: 'control', agentId: 'talk', call: { id: callId } }] as const;

  it('still waits after a crash, unless it has ended without a decision', async () => {
    const { asked } = await stateOf(
      [MESSAGE, QUESTION],
      [MESSAGE, REPLY],
      [...event('permission_required', 'tc_1')],
      [...event('permission_required', 'tc_2')],
      [...event('tool:end', 'tc_1')],
    );
    expect(asked).toEqual(['tc_2']);
  });
});
