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

/** By their place in the reply. Copied with every change, but seldom more than one is open. */
export type OpenCalls = ReadonlyMap<unknown, OpenCall>;

export type AfterEvent = readonly [OpenCalls, ReplyItem[]];

/** How a vendor streams calls that begin, grow and end: those that are open when the stream ends were cut off. */
export function callReplies(vendor: Pick<VendorReply<OpenCalls>, 'event' | 'body'>): VendorReply<OpenCalls> {
  return { ...vendor, beginning: new Map(), end: (open) => [...open.values()].map(cutOff) };
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
  return [open, [invalid(`the model's server broke off: ${words}`, offset)]];
}
