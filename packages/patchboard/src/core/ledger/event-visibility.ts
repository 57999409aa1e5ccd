import type { Guard } from '../access/guard.ts';
import type { Principal } from '../access/principal.ts';
import type { TenantDirectory } from '../access/tenant-directory.ts';
import { maySeeCall, onlyAgent } from '../call/visibility.ts';
import type { EventRowFilter } from './event-slice.ts';
import type { BoardEvent, EventFilter } from './events.ts';

/** What decides which tools a principal may see. */
export interface ToolVisibility {
  readonly guard: Pick<Guard, 'listsName'>;
  readonly tenants: Pick<TenantDirectory, 'offers'>;
}

/** The event as the reader may see it; null if it may not. */
export function eventAsSeen(
  filter: EventFilter,
  event: BoardEvent,
  tools: ToolVisibility,
): BoardEvent | null {
  if (event.view !== undefined) return asViewed(filter, event, event.view);
  const shared = event.type === 'registry.changed' ? serverToolEvent(filter, event, tools) : event;
  if (shared === null || !maySeeEvent(filter, shared)) return null;
  if (event.type !== 'registry.changed') return event;
  return onlyListed(shared, filter.principal, tools.guard);
}

/**
 * A change of server tools concerns every tenant that has their pack. Its row belongs to the default tenant; other tenants
 * get the event live only, so it has no sequence for them.
 */
function serverToolEvent(
  { principal: { tenant } }: EventFilter,
  event: BoardEvent,
  { tenants }: ToolVisibility,
): BoardEvent | null {
  const { client_id: clientId, pack } = event.data as { client_id?: unknown; pack?: unknown };
  if (clientId !== undefined) return event;
  if (typeof pack === 'string' && !tenants.offers(tenant, pack)) return null;
  return event.tenant === tenant ? event : { ...event, tenant, seq: null };
}

export function eventRowFilter({ principal, callId }: EventFilter): EventRowFilter {
  const { tenant, kind, agentId, clientId } = principal;
  if (callId !== null) return { tenant, callId };
  if (onlyAgent(principal) === null) return { tenant };
  return { tenant, askedOrRunBy: { agentId, clientId: kind === 'client' ? clientId : null } };
}

function asViewed(
  { principal, callId }: EventFilter,
  event: BoardEvent,
  view: (principal: Principal) => unknown,
): BoardEvent | null {
  const data = callId === null ? view(principal) : null;
  return data === null ? null : { ...event, data };
}

function maySeeEvent({ principal, callId }: EventFilter, event: BoardEvent): boolean {
  if (event.tenant !== principal.tenant || (callId !== null && event.callId !== callId)) return false;
  if (event.callId === null) return true;
  // The owner of a call that is no longer stored is unknown.
  return event.call === null ? onlyAgent(principal) === null : maySeeCall(principal, event.call);
}

/** Removes the names of tools that the reader may never call; returns null if none is left. */
function onlyListed(
  event: BoardEvent,
  principal: Principal,
  guard: Pick<Guard, 'listsName'>,
): BoardEvent | null {
  const data = event.data as Readonly<Record<string, unknown>>;
  if (principal.kind === 'operator' || isOwner(principal, data['client_id'])) return event;
  const shown: Record<string, unknown> = {};
  let names = 0;
  for (const [key, value] of Object.entries(data)) {
    // Every array in a `registry.changed` row contains tool names.
    const listed = Array.isArray(value)
      ? value.filter((name) => guard.listsName(principal, String(name)))
      : null;
    if (listed === null) shown[key] = value;
    else if (listed.length > 0) shown[key] = listed;
    names += listed?.length ?? 0;
  }
  return names === 0 ? null : { ...event, data: shown };
}

function isOwner({ clientId, scopes }: Principal, ownerId: unknown): boolean {
  return clientId !== null && clientId === ownerId && scopes.has('tools:serve');
}
