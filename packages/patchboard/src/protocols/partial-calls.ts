import { reason } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import type { EventData } from './event-lines.ts';
import type { VendorReply } from './json-reply.ts';
import type { ReplyItem } from './protocol.ts';
import { cutOff, invalid, requestFrom, textOf } from './vendor-calls.ts';

/** A call of a stream whose end has not arrived yet. */
export interface PartialCall {
  readonly id: string;
  readonly name: string;
  /** The arguments so far, if they arrive in pieces. */
  readonly input: string;
  readonly offset: number;
  /** Its end has arrived. The next event shows whether the reply was cut off there. */
  readonly isStopped?: true;
}

/** Calls by their index in the reply. Copied with every change, so their number is bounded. */
export type PartialCalls = ReadonlyMap<unknown, PartialCall>;

/** More than any model sends concurrently. */
const MAX_PARTIAL = 256;

export type EventResult = readonly [PartialCalls, ReplyItem[]];

/**
 * The parser of a vendor that streams calls in pieces. Calls that are incomplete at the end of the stream were cut off.
 * If too many are incomplete at once, it reports one error and ignores the rest of the stream.
 */
export function partialCallReply(
  vendor: Pick<VendorReply<PartialCalls>, 'event' | 'body'>,
): VendorReply<PartialCalls> {
  const isOver = (open: PartialCalls): boolean => open.size > MAX_PARTIAL;
  return {
    body: vendor.body,
    beginning: new Map(),
    event: (open, event, source) => {
      if (isOver(open)) return [open, []];
      const [next, items] = vendor.event(open, event, source);
      if (!isOver(next)) return [next, items];
      const why = reason('reply_too_many_open', { count: MAX_PARTIAL });
      return [next, [...items, invalid(why, source.offset)]];
    },
    end: (open) => (isOver(open) ? [] : [...open.values()].map(ended)),
  };
}

function ended(call: PartialCall): ReplyItem {
  return call.isStopped === true ? requestFrom(call) : cutOff(call);
}

export function opened(open: PartialCalls, place: unknown, call: PartialCall): PartialCalls {
  return new Map(open).set(place, call);
}

export function closed(open: PartialCalls, place: unknown): PartialCalls {
  const rest = new Map(open);
  rest.delete(place);
  return rest;
}

/** The vendor reported an error within the stream. */
export function streamError(open: PartialCalls, error: unknown, { offset }: EventData): EventResult {
  const words = isRecord(error) ? textOf(error['message']) : '';
  return [open, [invalid(reason('reply_broken_off', { error: words }), offset)]];
}
