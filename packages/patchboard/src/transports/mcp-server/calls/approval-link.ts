import { DEFAULT_TENANT } from '../../../core/access/principal.ts';
import { BoundedMap } from '../../../core/bounded-map.ts';
import type { Call } from '../../../core/call/call.ts';
import type { Engine } from '../../../core/engine.ts';
import type { Exchange } from '../exchange.ts';
import { elicitResult, responseAt, type InputResponses } from './input-responses.ts';
import { urlRequest, type InputRequestJson } from '../../../protocols/mcp/input-requests.ts';
import { APPROVAL_KEY } from './input-requests.ts';

/** The page of the console where an operator decides on the call; null if this server has no pages. Contains no token. */
export function approvalLink(
  { origin }: Pick<Exchange, 'origin'>,
  { id, tenant }: Pick<Call, 'id' | 'tenant'>,
): string | null {
  if (origin === null) return null;
  const ofTenant = tenant === DEFAULT_TENANT ? '' : `&tenant=${encodeURIComponent(tenant)}`;
  return `${origin}/ui/approvals?id=${encodeURIComponent(id)}${ofTenant}`;
}

const LINKS_KEPT = 10_000;
/** The calls whose link a client has accepted. A restart forgets them, and the link is sent once more. */
const ACCEPTED: WeakMap<Engine, BoundedMap<string, true>> = new WeakMap();

function acceptedLinks({ context: { engine } }: Pick<Exchange, 'context'>): BoundedMap<string, true> {
  const links = ACCEPTED.get(engine) ?? new BoundedMap(LINKS_KEPT);
  ACCEPTED.set(engine, links);
  return links;
}

/** Whether this client can be sent links to the approvals of its calls. */
export function showsApprovals({ client, origin }: Pick<Exchange, 'client' | 'origin'>): boolean {
  return client.elicitsUrl && origin !== null;
}

/**
 * The request that shows a person the way to the approval; null if there is none, or its client has accepted it. What the
 * client responds never decides: the operator does, with a credential of their own.
 */
export function approvalRequest(
  exchange: Pick<Exchange, 'context' | 'client' | 'origin'>,
  call: Call,
): Readonly<Record<string, InputRequestJson>> | null {
  const link = approvalLink(exchange, call);
  if (call.state.name !== 'APPROVAL_REQUIRED' || link === null || !exchange.client.elicitsUrl) return null;
  if (acceptedLinks(exchange).use(call.id) === true) return null;
  const why = call.approval?.reason ?? '';
  const message = `An operator must approve this call of ${call.toolName}${why === '' ? '' : `: ${why}`}`;
  return { [APPROVAL_KEY]: urlRequest(`${call.id}.${APPROVAL_KEY}`, message, link) };
}

/** `accept`: the person looks at the page. `decline`: the caller gives its own call up. Neither decides on the call. */
export async function respondToLink(
  exchange: Pick<Exchange, 'context' | 'principal'>,
  call: Call,
  responses: InputResponses,
): Promise<void> {
  const response = responseAt(responses, APPROVAL_KEY);
  if (response === undefined) return;
  const read = elicitResult(APPROVAL_KEY, response);
  if (read?.action === 'accept') acceptedLinks(exchange).set(call.id, true);
  if (read?.action === 'decline') await exchange.context.engine.calls.cancel(exchange.principal, call.id);
}
