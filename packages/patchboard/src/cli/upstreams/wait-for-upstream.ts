import { setTimeout as delay } from 'node:timers/promises';
import type { PatchboardClient } from '@patchboard/client';
import type { UpstreamView } from '@patchboard/wire';
import type { CliContext } from '../context.ts';

/** A command that is run with npx is downloaded at its first start. */
const WAIT_MS = 60_000;
const POLL_MS = 250;
const NOTE_EVERY_MS = 5000;
/** The tools are listed after the connection is made; some upstreams have none. */
const LIST_MS = 5000;

/**
 * Resolves when all the upstreams are connected, or have failed to connect once, or after a minute. Prints progress on stderr.
 * Those that the server does not have are left out.
 */
export async function waitForUpstreams(
  { output }: CliContext,
  client: PatchboardClient,
  names: readonly string[],
): Promise<readonly UpstreamView[]> {
  const start = Date.now();
  let noted = start;
  for (;;) {
    const found = (await client.upstreams()).filter(({ name }) => names.includes(name));
    const now = Date.now();
    const waiting = found.filter((upstream) => !isSettled(upstream, now)).map(({ name }) => name);
    if (waiting.length === 0 || now - start > WAIT_MS) return found;
    if (now - noted > NOTE_EVERY_MS) {
      output.note(`connecting to ${waiting.join(', ')} for ${Math.round((now - start) / 1000)} s`);
      noted = now;
    }
    await delay(POLL_MS);
  }
}

function isSettled(upstream: UpstreamView, now: number): boolean {
  const { state, last_error: lastError, tools, rejected, connected_at: connectedAt } = upstream;
  if (state === 'connected')
    return tools.length + rejected.length > 0 || now - Date.parse(connectedAt ?? '') > LIST_MS;
  return state === 'failed' || (state === 'disconnected' && lastError !== null);
}
