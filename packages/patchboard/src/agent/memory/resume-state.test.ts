import { describe, expect, it } from 'vitest';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { Message } from '../../protocols/messages.ts';
import { CREATED, loadResumeState } from './resume-state.ts';
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

async function messagesOf(...entries: readonly [kind: string, body: unknown][]): Promise<readonly Message[]> {
  const store = memoryStore({ digest: nodeDigest });
  const drafts = [[CREATED, { name: 'ann' }] as const, ...entries].map(([kind, body]) => {
    return { kind, body: JSON.stringify(body) };
  });
  await store.appendJournal('talk', 0, drafts);
  return (await loadResumeState(store, 'talk')).messages;
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
