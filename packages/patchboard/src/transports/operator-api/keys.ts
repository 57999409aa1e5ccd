import { KEY_KINDS, type KeyView, parseTime, reason, rfc3339 } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { failure } from '../../core/failures.ts';
import type { ApiKey, KeyRequest } from '../../core/access/key-index.ts';
import { SCOPES } from '../../core/access/scopes.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import {
  idOf,
  type IdRequest,
  NOT_STORED,
  type RequestWith,
  route,
  type Route,
  sendJson,
  type ValueOf,
} from '../shared/routes/routes.ts';
import {
  enumOf,
  ID_PARAMS,
  listOf,
  nullable,
  object,
  PEER_ID,
  TEXT,
  TIME,
} from '../shared/routes/schemas.ts';

const KIND = enumOf(KEY_KINDS);
const SCOPE = enumOf(SCOPES);

const KEY = {
  key_id: TEXT,
  tenant_id: TEXT,
  kind: KIND,
  name: { ...TEXT, description: 'the agent, client, service or operator that the key identifies' },
  scopes: listOf(SCOPE),
  hint: { ...TEXT, description: 'the first characters of the secret' },
  created_at: TIME,
  created_by: TEXT,
  expires_at: nullable(TIME),
};

const LAST_USE = { last_used_at: nullable({ ...TIME, description: 'to the minute; null: never' }) };

const listRoute: Route = {
  method: 'GET',
  url: '/v1/keys',
  name: 'listKeys',
  api: 'operator',
  summary: 'The valid keys, without their secrets.',
  scope: 'keys:write',
  responses: {
    200: {
      description: 'all keys of the tenant',
      schema: object({ keys: listOf(object({ ...KEY, ...LAST_USE })), next_cursor: { type: 'null' } }),
    },
  },
  refusals: [],
  handle: listKeys,
};

async function listKeys(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { tenant } = principalOf(request);
  const { index, uses } = context.services.keys;
  const lastUses = await uses.read();
  const keys = index.list(tenant).map((key) => keyView(key, lastUses.get(key.id) ?? null));
  sendJson(reply, 200, JSON.stringify({ keys, next_cursor: null }));
}

const KEY_BODY = object(
  {
    kind: KIND,
    name: PEER_ID,
    tenant_id: { ...PEER_ID, description: 'default: your own, and no other is possible' },
    scopes: { ...listOf(SCOPE), minItems: 1, description: 'default: the scopes of the kind' },
    expires_at: nullable({ ...TEXT, description: 'RFC 3339, or epoch seconds; default: never' }),
  },
  ['tenant_id', 'scopes', 'expires_at'],
);

const createRoute: Route = route({
  method: 'POST',
  url: '/v1/keys',
  name: 'createKey',
  api: 'operator',
  summary: 'Create a key, with at most the scopes of your own credential. The secret is shown only once.',
  scope: 'keys:write',
  body: KEY_BODY,
  responses: {
    201: { description: 'the key and its secret', schema: object({ ...KEY, ...LAST_USE, key: TEXT }) },
  },
  refusals: ['permission_denied', 'name_taken', ...NOT_STORED],
  handle: createKey,
});

async function createKey(
  context: HttpContext,
  request: RequestWith<{ body: ValueOf<typeof KEY_BODY> }>,
  reply: FastifyReply,
): Promise<void> {
  const principal = principalOf(request);
  const { body } = request;
  const expiry = body.expires_at ?? null;
  const expiresAt = expiry === null ? null : parseTime(expiry);
  if (expiresAt === null && expiry !== null) {
    sendProblem(
      reply,
      failure(
        'body_invalid',
        reason('request_issue', { place: 'body/expires_at', problem: [reason('issue_not_time')] }),
      ),
    );
    return;
  }
  const wanted: KeyRequest = {
    tenant: body.tenant_id ?? principal.tenant,
    kind: body.kind,
    name: body.name,
    scopes: body.scopes ?? null,
    expiresAt,
  };
  const minted = await context.services.keys.mint(principal, wanted);
  if ('code' in minted) sendProblem(reply, minted);
  else sendJson(reply, 201, JSON.stringify({ ...keyView(minted.key, null), key: minted.secret }));
}

const revokeRoute: Route = route({
  method: 'DELETE',
  url: '/v1/keys/:id',
  name: 'revokeKey',
  api: 'operator',
  summary:
    'Revoke a key and end its open streams. A credential can revoke the keys that it could ' +
    'create, and itself.',
  scope: 'keys:write',
  params: ID_PARAMS,
  responses: { 200: { description: 'the revoked key', schema: object(KEY) } },
  refusals: ['key_not_found', 'permission_denied', ...NOT_STORED],
  handle: revokeKey,
});

async function revokeKey(context: HttpContext, request: IdRequest, reply: FastifyReply): Promise<void> {
  const id = idOf(request);
  const revoked = await context.services.keys.revoke(principalOf(request), id);
  if ('code' in revoked) sendProblem(reply, revoked);
  else sendJson(reply, 200, JSON.stringify(keyView(revoked)));
}

/** `lastUsedAt`: epoch milliseconds; null: never; absent: not known. */
export function keyView(key: ApiKey, lastUsedAt?: number | null): KeyView {
  return {
    key_id: key.id,
    tenant_id: key.tenant,
    kind: key.kind,
    name: key.name,
    scopes: key.scopes,
    hint: key.hint,
    created_at: rfc3339(key.createdAt),
    created_by: key.createdBy,
    expires_at: key.expiresAt === null ? null : rfc3339(key.expiresAt),
    ...(lastUsedAt === undefined ? {} : { last_used_at: lastUsedAt === null ? null : rfc3339(lastUsedAt) }),
  };
}

export const keyRoutes: readonly Route[] = [listRoute, createRoute, revokeRoute];
