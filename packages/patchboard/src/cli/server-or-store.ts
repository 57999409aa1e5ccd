import type { PatchboardClient } from '@patchboard/client';
import type { CliContext } from './context.ts';
import {
  isOnThisMachine,
  operatorClient,
  operatorCredential,
  type OperatorCredential,
  type OperatorOptions,
} from './operator-client.ts';
import type { StoreLocation } from './store-location.ts';

const PROBE_MS = 5000;

/**
 * Uses the server if it is reachable. Otherwise, if its address is on this machine, uses the store directly and prints a
 * note. `location` null: there is no store that may be used.
 */
export async function withServerOrStore<T>(
  context: CliContext,
  options: OperatorOptions,
  location: StoreLocation | null,
  work: { server(url: string): Promise<T>; store(location: StoreLocation): Promise<T> },
): Promise<T> {
  const credential = await operatorCredential(context, options);
  const isReachable = await probe(operatorClient(credential, options));
  // If the server is unreachable, the request fails with the same message as in other commands.
  if (isReachable || location === null || !mayUseStore(credential)) return work.server(credential.url);
  const store =
    location.kind === 'folder' ? `the data folder ${location.folder}` : `the database ${location.shown}`;
  context.output.note(`${credential.url} is not reachable; using ${store} directly`);
  return work.store(location);
}

/** A profile names a server, whose store may be another one than that of this folder. */
function mayUseStore({ url, profile }: OperatorCredential): boolean {
  return profile === null && isOnThisMachine(url);
}

async function probe(client: PatchboardClient): Promise<boolean> {
  try {
    await client.health({ signal: AbortSignal.timeout(PROBE_MS) });
    return true;
  } catch {
    return false;
  }
}
