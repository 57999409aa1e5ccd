import { reason } from '@patchboard/wire';
import { isRecord } from '../core/json/is-record.ts';
import type { EventData } from './event-lines.ts';
import type { VendorReply } from './json-reply.ts';
import type { ReplyItem } from './protocol.ts';
import { cutOff, invalid, textOf } from './vendor-calls.ts';

/** A call of which the end was not seen. */
export interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** What came of its arguments, where they come in pieces. */
  readonly input: string;
  readonly offset: number;
}

/** By their place in the reply. Copied with every change, so few may be open. */
export type OpenCalls = ReadonlyMap<unknown, OpenCall>;

/** More than any model leaves open at once. */
const MOST_OPEN = 256;

export type AfterEvent = readonly [OpenCalls, ReplyItem[]];

/**
 * How a vendor streams calls that begin, grow and end: those that are open when the stream ends were cut off.
 * Where too many are open, that is said once, and nothing after it is read.
 */
export function callReplies(vendor: Pick<VendorReply<OpenCalls>, 'event' | 'body'>): VendorReply<OpenCalls> {
  const isOver = (open: OpenCalls): boolean => open.size > MOST_OPEN;
  return {
    body: vendor.body,
    beginning: new Map(),
    event: (open, event, source) => {
      if (isOver(open)) return [open, []];
      const [next, items] = vendor.event(open, event, source);
      if (!isOver(next)) return [next, items];
      const why = reason('reply_too_many_open', { count: MOST_OPEN });
      return [next, [...items, invalid(why, source.offset)]];
    },
    end: (open) => (isOver(open) ? [] : [...open.values()].map(cutOff)),
  };
}

export function opened(open: OpenCalls, place: unknown, call: OpenCall): OpenCalls {
  return new Map(open).set(place, call);
}

export function closed(open: OpenCalls, place: unknown): OpenCalls {
  const rest = new Map(open);
  rest.delete(place);
  return rest;
}

/** The vendor says what went wrong in the middle of a stream. */
export function brokenOff(open: OpenCalls, error: unknown, { offset }: EventData): AfterEvent {
  const words = isRecord(error) ? textOf(error['message']) : '';
  return [open, [invalid(reason('reply_broken_off', { error: words }), offset)]];
}
