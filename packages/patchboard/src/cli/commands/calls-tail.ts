import type { PatchboardClient } from '@patchboard/client';
import { connect, type CliContext, type ServerOptions } from '../context.ts';
import { pastMoment } from '../duration.ts';
import { eventLine } from '../event-line.ts';
import { UsageError } from '../exit-codes.ts';

export interface TailFlags extends ServerOptions {
  readonly after?: string;
  readonly since?: string;
}

export async function tailCalls(
  context: CliContext,
  id: string | undefined,
  flags: TailFlags,
): Promise<void> {
  const { output } = context;
  const client = await connect(context, flags);
  const after = await startOf(client, id, flags);
  const stop = new AbortController();
  const off = context.onInterrupt(() => stop.abort());
  try {
    const events = client.events({
      signal: stop.signal,
      ...(id === undefined ? {} : { callId: id }),
      ...(after === null ? {} : { after }),
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

/** Resolves to the event to start after; null: the default. The ids of events are sequence numbers of the ledger. */
async function startOf(
  client: PatchboardClient,
  id: string | undefined,
  { after, since }: TailFlags,
): Promise<string | null> {
  if (since === undefined) return after ?? null;
  if (after !== undefined) throw new UsageError('give only one of --after and --since');
  if (id !== undefined) throw new UsageError('--since is for the events of all calls: omit the id');
  const from = pastMoment('--since', since, Date.now());
  const [first] = (await client.ledger({ from, limit: 1 }).page()).items;
  return first === undefined ? null : String(first.seq - 1);
}
