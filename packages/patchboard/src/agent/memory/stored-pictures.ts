import { blockName, CONTENT_KEY, isContentValue, type ContentValue } from '@patchboard/wire';
import type { Message, ToolResultBlock, UserMessage } from '../../protocols/messages.ts';
import { toRecord } from '../../sdk/tool-call-record.ts';
import { toToolResult, type ToolResultOptions } from '../../sdk/tool-result.ts';
import type { AgentHost } from '../agent-host.ts';

/** Marks a text that the journal has in place of a picture. */
const IN_RECORD = 'patchboard/in_record';

/** Names the pictures of tool results: the record of the call has them, and the journal does not store them again. */
export function withoutPictures(message: UserMessage): UserMessage {
  if (!message.content.some(hasPicture)) return message;
  const content = message.content.map((block) =>
    hasPicture(block) ? { ...block, content: namedPictures(block.content) } : block,
  );
  return { ...message, content };
}

/** Returns the value; if it is a content value, with texts in place of its pictures. */
export function namedPictures(value: unknown): unknown {
  if (!isContentValue(value)) return value;
  const blocks = value[CONTENT_KEY].map((block) =>
    block.type === 'image'
      ? ({ type: 'text', text: blockName(block), _meta: { [IN_RECORD]: true } } as const)
      : block,
  );
  return { ...value, [CONTENT_KEY]: blocks } satisfies ContentValue;
}

/** Puts the pictures back from the records of the calls. A result whose record is gone keeps the texts. */
export async function withPictures(
  messages: readonly Message[],
  host: Pick<AgentHost, 'engine' | 'principal'>,
  agentName: string,
  options: ToolResultOptions,
): Promise<readonly Message[]> {
  const principal = host.principal(agentName);
  const again = async (block: ToolResultBlock, callId: string | undefined): Promise<ToolResultBlock> => {
    const call = callId === undefined ? undefined : await host.engine.calls.find(principal, callId);
    return call === undefined ? block : toToolResult(block.tool_use_id, toRecord(call), options);
  };
  const restored: Message[] = [];
  for (const message of messages) {
    if (message.role !== 'user' || !message.content.some(isNamed)) {
      restored.push(message);
      continue;
    }
    const notes = message.metadata?.toolCall ?? [];
    const content = message.content.map(async (block) => {
      if (!isNamed(block)) return block;
      return await again(block, notes.find(({ requestId }) => requestId === block.tool_use_id)?.callId);
    });
    restored.push({ ...message, content: await Promise.all(content) });
  }
  return restored;
}

type UserBlock = UserMessage['content'][number];

function hasPicture(block: UserBlock): block is ToolResultBlock {
  if (block.type !== 'tool_result' || !isContentValue(block.content)) return false;
  return block.content[CONTENT_KEY].some(({ type }) => type === 'image');
}

function isNamed(block: UserBlock): block is ToolResultBlock {
  if (block.type !== 'tool_result' || !isContentValue(block.content)) return false;
  return block.content[CONTENT_KEY].some(({ _meta }) => _meta?.[IN_RECORD] === true);
}
