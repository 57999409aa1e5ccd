import type { McpUpstreamSettings } from './mcp-upstream-settings.ts';
import type { PendingRequest } from './raw-request.ts';
import { ServerRequestRefused } from './intercepting-transport.ts';

/**
 * Handles a request of a server of the older protocol versions. It names no call, so it goes to the one pending request that
 * responds to such requests. Returns null for requests that the SDK's client handles: it responds to `ping` and refuses others.
 */
export function respondToServer(
  settings: Pick<McpUpstreamSettings, 'inputRequests' | 'sampling'>,
  pending: readonly PendingRequest[],
  method: string,
  params: Readonly<Record<string, unknown>>,
): Promise<unknown> | null {
  if (method === 'roots/list') return Promise.resolve({ roots: [] });
  const isAllowed =
    (method === 'elicitation/create' && settings.inputRequests) ||
    (method === 'sampling/createMessage' && settings.sampling);
  if (!isAllowed) return null;
  const [handler, ...others] = pending.flatMap(({ request }) => request.onServerRequest ?? []);
  if (handler === undefined || others.length > 0)
    return Promise.reject(new ServerRequestRefused('No caller can respond to this request.'));
  return handler(method, params);
}
