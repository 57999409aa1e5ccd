import type { EventData } from '../event-lines.ts';
import {
  cutOff,
  invalid,
  offsetOfId,
  recordsIn,
  requestFrom,
  textItem,
  textOf,
  type VendorReply,
} from '../json-reply.ts';
import type { ReplyItem } from '../protocol.ts';
import { isRecord } from '../schema-facts.ts';

/** A `tool_use` block of which the end was not seen. */
interface OpenBlock {
  readonly id: string;
  readonly name: string;
  readonly json: string;
  readonly offset: number;
}

/** By index. Copied with every change, but seldom more than one is open. */
type OpenBlocks = ReadonlyMap<unknown, OpenBlock>;

type Event = Readonly<Record<string, unknown>>;

/** The Messages API: a message, its `content`, or its event stream. */
export const anthropicReply: VendorReply<OpenBlocks> = {
  beginning: new Map(),
  event: (open, event, source) => {
    switch (event['type']) {
      case 'content_block_start':
        return started(open, event, source);
      case 'content_block_delta':
        return grown(open, event);
      case 'content_block_stop':
        return stopped(open, event);
      case 'error': {
        const { error } = event;
        const words = isRecord(error) ? textOf(error['message']) : '';
        return [open, [invalid(`the model's server broke off: ${words}`, source.offset)]];
      }
      default:
        return [open, []];
    }
  },
  end: (open) => [...open.values()].map(cutOff),
  body: readMessage,
};

function started(open: OpenBlocks, event: Event, { offset }: EventData): [OpenBlocks, ReplyItem[]] {
  const block = event['content_block'];
  if (!isRecord(block)) return [open, []];
  if (block['type'] === 'text') return [open, textItem(block['text'])];
  if (block['type'] !== 'tool_use') return [open, []];
  const begun = { id: textOf(block['id']), name: textOf(block['name']), json: '', offset };
  return [new Map(open).set(event['index'], begun), []];
}

function grown(open: OpenBlocks, event: Event): [OpenBlocks, ReplyItem[]] {
  const { delta } = event;
  if (!isRecord(delta)) return [open, []];
  if (delta['type'] === 'text_delta') return [open, textItem(delta['text'])];
  const block = open.get(event['index']);
  if (delta['type'] !== 'input_json_delta' || block === undefined) return [open, []];
  const more = { ...block, json: block.json + textOf(delta['partial_json']) };
  return [new Map(open).set(event['index'], more), []];
}

function stopped(open: OpenBlocks, event: Event): [OpenBlocks, ReplyItem[]] {
  const block = open.get(event['index']);
  if (block === undefined) return [open, []];
  const rest = new Map(open);
  rest.delete(event['index']);
  return [rest, [requestFrom({ ...block, input: block.json })]];
}

function readMessage(value: unknown, text: string): ReplyItem[] {
  const message = isRecord(value) ? value : {};
  const content = Array.isArray(value) ? value : message['content'];
  if (typeof content === 'string') return textItem(content);
  if (!Array.isArray(content)) return [invalid('the reply is no message: it has no "content"', 0)];
  const blocks = recordsIn(content);
  return blocks.flatMap((block, at): ReplyItem[] => {
    if (block['type'] === 'text') return textItem(block['text']);
    if (block['type'] !== 'tool_use') return [];
    const id = textOf(block['id']);
    const call = { id, name: textOf(block['name']), offset: offsetOfId(text, id) };
    // A message that hit its limit may hold half of the last input, and nothing in it says so.
    if (message['stop_reason'] === 'max_tokens' && at === blocks.length - 1) return [cutOff(call)];
    const input = block['input'];
    return [requestFrom({ ...call, input: isRecord(input) ? input : (JSON.stringify(input) ?? '') })];
  });
}
