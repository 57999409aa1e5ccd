import { connect, type CliContext, type ServerOptions } from '../context.ts';
import { eventLine } from '../event-line.ts';

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
    if (output.isWatched && id === undefined) output.note('following events; press Ctrl-C to stop');
    for await (const event of events) {
      if (flags.json === true) output.jsonLine(event);
      else output.data(eventLine(event, output));
    }
  } catch (error) {
    // Ctrl-C is the normal end of this command.
    if (!stop.signal.aborted) throw error;
  } finally {
    off();
  }
}
