import { reason } from '@patchboard/wire';
import type { IncomingHttpHeaders } from 'node:http';
import { failure, type Failure } from '../../core/failures.ts';
import { parseTraceparent } from '../../core/call/trace-context.ts';
import type { Schema } from '../shared/routes/routes.ts';
import { headers, nullable, PEER_ID, TEXT } from '../shared/routes/schemas.ts';
import type { TenantOrigin } from './tenant-origin.ts';

/** The site, user, session and trace of a tenant's request, from the headers and the body. */
export interface TenantContext {
  readonly traceId: string;
  readonly spanId: string | null;
  readonly origin: TenantOrigin;
}

/** Clients that serialize a whole record send null for unset members. */
export type BodyContext = Readonly<Partial<Record<ContextMember, string | null>>>;

type ContextMember = 'tenant_id' | 'site_id' | 'trace_id' | 'span_id' | 'user_id' | 'session_id' | 'npc_id';

const REQUIRED = ['x-tenant-id', 'x-site-id', 'x-trace-id'];

export const TENANT_CONTEXT_HEADERS: Schema = {
  ...headers({
    'x-tenant-id': { ...PEER_ID, description: 'the tenant' },
    'x-site-id': { ...PEER_ID, description: 'a site of the tenant' },
    'x-trace-id': { ...PEER_ID, description: 'kept with the call, in ledger and log' },
    'x-span-id': PEER_ID,
    'x-user-id': PEER_ID,
    'x-session-id': PEER_ID,
    'x-npc-id': PEER_ID,
    'x-internal-api-key': { ...TEXT, description: 'a key of `auth.internal_keys`, or one that was minted' },
    traceparent: { ...TEXT, description: 'W3C trace context: the parent of the span of the call' },
  }),
  required: REQUIRED,
};

/** Null means absent; members that are not listed are ignored. */
export const BODY_CONTEXT: Schema<BodyContext | null> = {
  type: ['object', 'null'],
  properties: {
    tenant_id: nullable(PEER_ID),
    site_id: nullable(PEER_ID),
    trace_id: {
      ...nullable(PEER_ID),
      description: 'may differ from the header, which takes precedence; both are recorded',
    },
    span_id: nullable(PEER_ID),
    user_id: nullable(PEER_ID),
    session_id: nullable(PEER_ID),
    npc_id: nullable(PEER_ID),
  },
};

/** Members of the body that must equal their header if both are sent. */
const MUST_AGREE: readonly (readonly [ContextMember, string])[] = [
  ['tenant_id', 'x-tenant-id'],
  ['site_id', 'x-site-id'],
  ['span_id', 'x-span-id'],
  ['user_id', 'x-user-id'],
  ['session_id', 'x-session-id'],
  ['npc_id', 'x-npc-id'],
];

/** The headers have been validated: the required ones are present once. */
export function tenantContextOf(
  given: IncomingHttpHeaders,
  inBody: BodyContext | null = null,
): TenantContext | Failure {
  const context = inBody ?? {};
  const differing = MUST_AGREE.filter(([member, header]) => {
    const [value, repeated] = [given[header], context[member] ?? undefined];
    return value !== undefined && repeated !== undefined && value !== repeated;
  });
  if (differing.length > 0) {
    const places = differing.map(([member, header]) => reason('context_member_differs', { member, header }));
    return failure('body_invalid', reason('context_differs', { places }));
  }
  const text = (header: string, member: ContextMember): string | undefined => {
    const sent = given[header];
    return (typeof sent === 'string' ? sent : context[member]) ?? undefined;
  };
  const traceId = String(given['x-trace-id']);
  const parent = parseTraceparent(String(given['traceparent'] ?? ''));
  return {
    traceId,
    spanId: text('x-span-id', 'span_id') ?? (parent?.traceId === traceId ? parent.spanId : null),
    origin: {
      siteId: String(given['x-site-id']),
      ...member('userId', text('x-user-id', 'user_id')),
      ...member('sessionId', text('x-session-id', 'session_id')),
      ...member('npcId', text('x-npc-id', 'npc_id')),
      ...member('contextTraceId', context.trace_id === traceId ? undefined : (context.trace_id ?? undefined)),
      ...member('traceparent', parent === null ? undefined : String(given['traceparent'])),
    },
  };
}

function member<Name extends keyof TenantOrigin>(
  name: Name,
  value: string | undefined,
): Partial<Record<Name, string>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, string>);
}
