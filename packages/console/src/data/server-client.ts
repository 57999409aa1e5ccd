import { createClient, type PatchboardClient } from '@patchboard/client';
import { SESSION_PROOF_HEADER } from '@patchboard/wire';
import type { Subscription } from '../live/hub-messages.ts';

export const DEFAULT_TENANT = 'default';

/** A client of this page's server; also used in workers. */
export function clientFor(subscription: Subscription): PatchboardClient {
  return createClient({
    url: location.origin,
    headers: headersOf(subscription),
    // Retry for long: a console may be left open overnight.
    // Wait up to 15 seconds for a busy server.
    retry: { retries: 10, reconnectForMs: Number.MAX_SAFE_INTEGER, maxDelayMs: 3000 },
    idleTimeoutMs: 45_000,
  });
}

/** The headers of every request of this page. */
export function headersOf({ proof, tenant }: Subscription): Readonly<Record<string, string>> {
  return {
    ...(proof === null ? {} : { [SESSION_PROOF_HEADER]: proof }),
    ...(tenant === DEFAULT_TENANT ? {} : { 'x-tenant-id': tenant }),
  };
}
