import { reason } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import type { EventData } from '../event-lines.ts';
import type { VendorReply } from '../json-reply.ts';
import {
  streamError,
  partialCallReply,
  type EventResult,
  type PartialCall,
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

/** Chat completions: a completion, a message, a list of `tool_calls`, or the event stream. Only the first choice is read. */
export const chatReply: VendorReply<PartialCalls> = partialCallReply({
  event: readChunk,
  body: readCompletion,
});

function readChunk(open: PartialCalls, event: Json, source: EventData): EventResult {
  if (isRecord(event['error'])) return streamError(open, event['error'], source);
  const choice = recordsIn(event['choices']).find(({ index }) => index === undefined || index === 0);
  if (choice === undefined) return [open, []];
  const delta = isRecord(choice['delta']) ? choice['delta'] : {};
  const items = textItem(delta['content']);
  // One copy for all parts of the event, of which there may be very many.
  const calls = new Map(open);
  let last = [...calls.keys()].at(-1);
  for (const part of recordsIn(delta['tool_calls'])) {
    const index = part['index'];
    if (!calls.has(index)) {
      release(calls, last, items);
      last = index;
    }
    calls.set(index, grown(calls.get(index), part, source));
  }
  if (typeof choice['finish_reason'] !== 'string') return [calls, items];
  const wasCut = isCut(choice);
  for (const [index, call] of calls) items.push(wasCut && index === last ? cutOff(call) : requestFrom(call));
  return [new Map(), items];
}

/** After a token limit or a content filter the last call is incomplete even if its arguments parse. */
function isCut({ finish_reason: why }: Json): boolean {
  return why === 'length' || why === 'content_filter';
}

/** Calls arrive one after the other: when the next one begins, the previous one is complete if its arguments parse. */
function release(calls: Map<unknown, PartialCall>, last: unknown, items: ReplyItem[]): void {
  const call = calls.get(last);
  if (call === undefined || call.input === '') return;
  const item = requestFrom(call);
  if (item.kind !== 'request') return;
  items.push(item);
  calls.delete(last);
}

function grown(before: PartialCall | undefined, part: Json, { offset }: EventData): PartialCall {
  const fn = isRecord(part['function']) ? part['function'] : {};
  const { id = '', name = '', input = '', offset: begun = offset } = before ?? {};
  return {
    id: id === '' ? textOf(part['id']) : id,
    name: name + textOf(fn['name']),
    input: input + textOf(fn['arguments']),
    offset: begun,
  };
}

function readCompletion(value: unknown, text: string): ReplyItem[] {
  const completion = isRecord(value) ? value : {};
  const [choice = {}] = recordsIn(completion['choices']);
  const message = isRecord(choice['message']) ? choice['message'] : completion;
  const given = Array.isArray(value) ? value : message['tool_calls'];
  if (!Array.isArray(value) && !('content' in message) && given === undefined)
    return [invalid(reason('reply_without_content_or_calls'), 0)];
  const calls = recordsIn(given);
  const placeOf = idFinder(text);
  return [
    ...textItem(message['content']),
    ...calls.map((call, at) => {
      const fn = isRecord(call['function']) ? call['function'] : {};
      const id = textOf(call['id']);
      const found = { id, name: textOf(fn['name']), offset: placeOf(id) };
      if (isCut(choice) && at === calls.length - 1) return cutOff(found);
      return requestFrom({ ...found, input: textOf(fn['arguments']) });
    }),
  ];
}
