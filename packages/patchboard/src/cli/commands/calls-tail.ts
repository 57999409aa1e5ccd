import { isCallProgressEvent, isCallStateEvent } from '@patchboard/client';
import type { StreamEvent } from '@patchboard/wire';
import { connect, type CliContext, type ServerOptions } from '../context.ts';
import { cell, type Output } from '../output.ts';
import { colourOf } from './calls-list.ts';

export interface TailFlags extends ServerOptions {
  readonly after?: string;
}

export async function tailCalls(
  context: CliContext,
  id: string | undefined,
  flags: TailFlags,
): Promise<void> {
  const { output } = context;
  const stop = new AbortController();
  const off = context.onInterrupt(() => stop.abort());
  try {
    const events = connect(context, flags).events({
      signal: stop.signal,
      ...(id === undefined ? {} : { callId: id }),
      ...(flags.after === undefined ? {} : { after: flags.after }),
    });
    if (output.isWatched && id === undefined) output.note('following; end with Ctrl-C');
    for await (const event of events) {
      if (flags.json === true) output.jsonLine(event);
      else output.data(lineFor(event, output));
    }
  } catch (error) {
    // Ctrl-C is how this command ends.
    if (!stop.signal.aborted) throw error;
  } finally {
    off();
  }
}

function lineFor(event: StreamEvent, output: Output): string {
  if (isCallStateEvent(event)) {
    const { at, tool_call_id: id, state, tool_name: tool, code } = event.data;
    const words = [
      cell(at),
      cell(id),
      output.paint(colourOf(state), state.padEnd(17)),
      cell(tool),
      cell(code ?? ''),
    ];
    return words.join('  ').trimEnd();
  }
  if (isCallProgressEvent(event)) {
    const { at, tool_call_id: id, data } = event.data;
    return [cell(at), cell(id), 'progress'.padEnd(17), cell(JSON.stringify(data))].join('  ');
  }
  return `${cell(event.type)}  ${cell(JSON.stringify(event.data))}`;
}
