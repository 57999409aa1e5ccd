import { createClient, type PatchboardClient } from '@patchboard/client';
import { SESSION_PROOF_HEADER } from '@patchboard/wire';
import type { Subscription } from '../live/hub-messages.ts';

export const DEFAULT_TENANT = 'default';

/** A client of the server that this page comes from; in a worker too. */
export function clientFor({ proof, tenant }: Subscription): PatchboardClient {
  return createClient({
    url: location.origin,
    headers: {
      ...(proof === null ? {} : { [SESSION_PROOF_HEADER]: proof }),
      ...(tenant === DEFAULT_TENANT ? {} : { 'x-tenant-id': tenant }),
    },
    // A console that was left open overnight is still there in the morning.
    // A server that is busy for a quarter of a minute is waited for.
    retry: { retries: 10, reconnectForMs: Number.MAX_SAFE_INTEGER, maxDelayMs: 3000 },
    idleTimeoutMs: 45_000,
  });
}
