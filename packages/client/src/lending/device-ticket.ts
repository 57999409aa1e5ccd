import { record } from '../decode/decode.ts';
import type { DeviceOptions } from './device-options.ts';
import { request } from '../http/http.ts';
import type { Settings } from '../http/options.ts';

/** Exchanges the key for a single-use ticket, because a key must not be part of a URL. Returns null if no ticket is needed. */
export async function ticketFor(
  settings: Settings,
  { key, clientId, ticket }: DeviceOptions,
): Promise<string | null> {
  if (ticket !== undefined) return await ticket();
  if (key === undefined) return null;
  const body = clientId === undefined ? {} : { client_id: clientId };
  const bounds = { signal: undefined, deadline: Number.POSITIVE_INFINITY };
  const made = await request(
    settings,
    { method: 'POST', path: '/v1/tickets', body, repeat: 'unsafe' },
    record,
    bounds,
  );
  return String(made['ticket']);
}
