import type { PatchboardClient } from '@patchboard/client';
import { clientSettings } from '../settings/environment.ts';
import type { CliContext } from './context.ts';
import {
  isOnThisMachine,
  operatorClient,
  operatorCredential,
  type OperatorOptions,
} from './operator-client.ts';

const PROBE_MS = 5000;

/**
 * Uses the server if it is reachable. Otherwise, if its address is on this machine and `mayUseFolder`, uses the data folder
 * and prints a note.
 */
export async function withServerOrFolder<T>(
  context: CliContext,
  options: OperatorOptions,
  mayUseFolder: boolean,
  work: { server(url: string): Promise<T>; folder(): Promise<T> },
): Promise<T> {
  const credential = await operatorCredential(context, options);
  const isReachable = await probe(operatorClient(credential, options));
  // If the server is unreachable, the request fails with the same message as in other commands.
  if (isReachable || !isOnThisMachine(credential.url) || !mayUseFolder) return work.server(credential.url);
  const { dataFolder } = clientSettings(context.environment);
  context.output.note(`${credential.url} is not reachable; using the data folder ${dataFolder} directly`);
  return work.folder();
}

async function probe(client: PatchboardClient): Promise<boolean> {
  try {
    await client.health({ signal: AbortSignal.timeout(PROBE_MS) });
    return true;
  } catch {
    return false;
  }
}
