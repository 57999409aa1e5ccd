import { reason } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import type { EventData } from '../event-lines.ts';
import type { VendorReply } from '../json-reply.ts';
import {
  streamError,
  partialCallReply,
  closed,
  opened,
  type EventResult,
  type PartialCalls,
} from '../partial-calls.ts';
import type { ReplyItem } from '../protocol.ts';
import {
  cutOff,
  invalid,
  idFinder,
  recordsIn,
  requestFrom,
  textItem,
  textOf,
  type Json,
} from '../vendor-calls.ts';

/** The Messages API: a message, its `content`, or its event stream. */
export const anthropicReply: VendorReply<PartialCalls> = partialCallReply({
  event: (open, event, source) => {
    switch (event['type']) {
      case 'content_block_start':
        return released(open, (rest) => started(rest, event, source));
      case 'content_block_delta':
        return grown(open, event);
      case 'content_block_stop':
        return stopped(open, event);
      case 'message_delta':
        return released(open, (rest) => [rest, []], isCut(event['delta']));
      case 'error':
        return streamError(open, event['error'], source);
      default:
        return [open, []];
    }
  },
  body: readMessage,
});

function started(open: PartialCalls, event: Json, { offset }: EventData): EventResult {
  const block = event['content_block'];
  if (!isRecord(block)) return [open, []];
  if (block['type'] === 'text') return [open, textItem(block['text'])];
  if (block['type'] !== 'tool_use') return [open, []];
  const begun = { id: textOf(block['id']), name: textOf(block['name']), input: '', offset };
  return [opened(open, event['index'], begun), []];
}

function grown(open: PartialCalls, event: Json): EventResult {
  const { delta } = event;
  if (!isRecord(delta)) return [open, []];
  if (delta['type'] === 'text_delta') return [open, textItem(delta['text'])];
  const block = open.get(event['index']);
  if (delta['type'] !== 'input_json_delta' || block === undefined) return [open, []];
  const more = { ...block, input: block.input + textOf(delta['partial_json']) };
  return [opened(open, event['index'], more), []];
}

function stopped(open: PartialCalls, event: Json): EventResult {
  const block = open.get(event['index']);
  if (block === undefined) return [open, []];
  // A message that hit its token limit ends its last block too. A call without any arguments looks complete then.
  if (block.input === '') return [opened(open, event['index'], { ...block, isStopped: true }), []];
  return [closed(open, event['index']), [requestFrom(block)]];
}

/** Reports the call that was stopped and waited for this event, before what the event itself leads to. */
function released(
  open: PartialCalls,
  next: (rest: PartialCalls) => EventResult,
  wasCut = false,
): EventResult {
  const calls = [...open].filter(([, call]) => call.isStopped === true);
  const [rest, items] = next(calls.reduce((all, [index]) => closed(all, index), open));
  return [rest, [...calls.map(([, call]) => (wasCut ? cutOff(call) : requestFrom(call))), ...items]];
}

/** Reasons after which the last call of a message may be incomplete, without a mark. */
const CUT: readonly unknown[] = ['max_tokens', 'model_context_window_exceeded', 'refusal'];

function isCut(message: unknown): boolean {
  return isRecord(message) && CUT.includes(message['stop_reason']);
}

function readMessage(value: unknown, text: string): ReplyItem[] {
  const message = isRecord(value) ? value : {};
  const content = Array.isArray(value) ? value : message['content'];
  if (typeof content === 'string') return textItem(content);
  if (!Array.isArray(content)) return [invalid(reason('reply_without_content'), 0)];
  const blocks = recordsIn(content);
  const placeOf = idFinder(text);
  return blocks.flatMap((block, at): ReplyItem[] => {
    if (block['type'] === 'text') return textItem(block['text']);
    if (block['type'] !== 'tool_use') return [];
    const id = textOf(block['id']);
    const call = { id, name: textOf(block['name']), offset: placeOf(id) };
    if (isCut(message) && at === blocks.length - 1) return [cutOff(call)];
    const input = block['input'];
    return [requestFrom({ ...call, input: isRecord(input) ? input : (JSON.stringify(input) ?? '') })];
  });
}
