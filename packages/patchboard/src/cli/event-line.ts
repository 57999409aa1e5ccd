import { isCallProgressEvent, isCallStateEvent } from '@patchboard/client';
import type { StreamEvent } from '@patchboard/wire';
import { colourOf } from './commands/calls-list.ts';
import { cell, type Output } from './output.ts';

/** The width of the longest state. */
const KIND_WIDTH = 17;
/** Fields that are in the JSON output only. */
const OMITTED: readonly string[] = [
  'at',
  'tool_call_id',
  'client_id',
  'run_id',
  'digest',
  'session',
  'request_sha256',
  'content_sha256',
];

/** Formats an event on one line: time, subject, kind and details. */
export function eventLine(event: StreamEvent, output: Pick<Output, 'paint'>): string {
  if (isCallStateEvent(event)) {
    const { at, tool_call_id: id, state, tool_name: tool, code } = event.data;
    const shown = output.paint(colourOf(state), state.padEnd(KIND_WIDTH));
    return [cell(at), cell(id), shown, cell(tool), cell(code ?? '')].join('  ').trimEnd();
  }
  const data = event.data as Readonly<Record<string, unknown>>;
  const subject = data['tool_call_id'] ?? data['client_id'] ?? 'server';
  const kind = isCallProgressEvent(event) ? 'progress' : event.type;
  const details = isCallProgressEvent(event) ? JSON.stringify(event.data.data) : factsIn(data);
  return [cell(text(data['at'])), cell(text(subject)), cell(kind).padEnd(KIND_WIDTH), cell(details)].join(
    '  ',
  );
}

function factsIn(data: Readonly<Record<string, unknown>>): string {
  return Object.entries(data)
    .filter(([key]) => !OMITTED.includes(key))
    .map(([key, value]) => `${key}: ${Array.isArray(value) ? value.map(text).join(' ') : text(value)}`)
    .join(', ');
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
