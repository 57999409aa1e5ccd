import {
  type CurrentSessionView,
  KEY_KINDS,
  reason,
  rfc3339,
  SESSION_COOKIE,
  sessionIdIn,
} from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { denied, failure } from '../../core/failures.ts';
import { keyOf } from '../../core/access/key-index.ts';
import { OPERATOR_TOKEN_ID, seesWholeServer, type Principal } from '../../core/access/principal.ts';
import { SCOPES } from '../../core/access/scopes.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { type RequestWith, route, type Route, sendJson } from '../shared/routes/routes.ts';
import { COUNT, listOf, nullable, object, TEXT, TIME } from '../shared/routes/schemas.ts';

/** The attributes of the session cookie: no script reads it, and no other site sends it. */
const COOKIE_RULES = 'Path=/; HttpOnly; SameSite=Strict';

/** `isSecure`: the browser used TLS, so it must never send the cookie without TLS. */
function cookieOf(id: string, maxAgeSeconds: number, isSecure: boolean): string {
  return `${SESSION_COOKIE}=${id}; Max-Age=${maxAgeSeconds}; ${rulesOf(isSecure)}`;
}

function clearedCookie(isSecure: boolean): string {
  return `${SESSION_COOKIE}=; Max-Age=0; ${rulesOf(isSecure)}`;
}

function rulesOf(isSecure: boolean): string {
  return isSecure ? `${COOKIE_RULES}; Secure` : COOKIE_RULES;
}

const openRoute: Route = route({
  method: 'POST',
  url: '/v1/session',
  name: 'openSession',
  api: 'operator',
  summary:
    'Exchange the operator token, a one-time login token or a key for a session cookie and a proof. Requests with the cookie must send the proof as `X-Session-Proof`. A session of a key has the rights of the key, and ends with it.',
  // The token in the body is the credential.
  scope: null,
  body: object({ token: TEXT }),
  responses: {
    200: { description: 'the cookie is set', schema: object({ expires_in_s: COUNT, proof: TEXT }) },
  },
  refusals: ['auth_required', 'rate_limited'],
  handle: openSession,
});

async function openSession(
  context: HttpContext,
  request: RequestWith<{ body: { token: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const { token } = request.body;
  const session = await context.services.sessions.open(token, request.ip);
  if ('code' in session) {
    sendProblem(reply, session);
    return;
  }
  reply.header('set-cookie', cookieOf(session.id, session.maxAgeSeconds, isOverTls(request)));
  sendJson(reply, 200, JSON.stringify({ expires_in_s: session.maxAgeSeconds, proof: session.proof }));
}

const currentRoute: Route = {
  method: 'GET',
  url: '/v1/session',
  name: 'currentSession',
  api: 'operator',
  summary: 'The principal of the credential that the request sends: who is signed in, and what it may do.',
  scope: 'any',
  responses: {
    200: {
      description: 'the principal',
      schema: object(
        {
          kind: { enum: ['operator', 'key', 'token', 'local'] },
          name: TEXT,
          tenant: nullable({ ...TEXT, description: 'the only tenant of the credential; null: all' }),
          scopes: listOf({ enum: SCOPES }),
          expires_at: nullable(TIME),
          key_id: { ...TEXT, description: 'the key that was sent, or that opened the session' },
          principal_kind: { enum: [...KEY_KINDS, 'local'] },
        },
        ['key_id'],
      ),
    },
  },
  refusals: [],
  handle: currentSession,
};

function currentSession(_context: HttpContext, request: FastifyRequest, reply: FastifyReply): undefined {
  sendJson(reply, 200, JSON.stringify(currentSessionView(principalOf(request))));
}

function currentSessionView(principal: Principal): CurrentSessionView {
  const { id, tenant, scopes, credential, kind } = principal;
  const key = keyOf(principal);
  const expiresAt = credential?.expiresAt ?? null;
  return {
    kind: credentialKind(principal),
    name: id,
    tenant: seesWholeServer(principal) ? null : tenant,
    scopes: [...scopes],
    expires_at: expiresAt === null ? null : rfc3339(expiresAt),
    ...(key === null ? {} : { key_id: key.id }),
    principal_kind: kind,
  };
}

function credentialKind(principal: Principal): CurrentSessionView['kind'] {
  if (principal.credential === null) return 'local';
  if (seesWholeServer(principal)) return 'operator';
  return keyOf(principal) === null ? 'token' : 'key';
}

/** TLS of this server, or of a trusted proxy that sends `X-Forwarded-Proto`. */
function isOverTls({ protocol }: FastifyRequest): boolean {
  return String(protocol).toLowerCase() === 'https';
}

const closeRoute: Route = {
  method: 'DELETE',
  url: '/v1/session',
  name: 'closeSession',
  api: 'operator',
  summary: 'Log out.',
  scope: null,
  responses: { 200: { description: 'the cookie is gone', schema: object({ ok: { const: true } }) } },
  refusals: [],
  handle: closeSession,
};

async function closeSession(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const id = sessionIdIn(request.headers.cookie);
  if (id !== null) await context.services.sessions.close(id);
  reply.header('set-cookie', clearedCookie(isOverTls(request)));
  sendJson(reply, 200, '{"ok":true}');
}

const linkRoute: Route = {
  method: 'POST',
  url: '/v1/session/link',
  name: 'makeLoginLink',
  api: 'operator',
  summary:
    'Create a link that signs in one browser as operator. Requires the operator token; keys and sessions are refused.',
  scope: 'keys:write',
  responses: {
    200: {
      description: 'the path of the link, to append to the address of the server',
      schema: object({ url_path: TEXT, expires_in_s: COUNT }),
    },
  },
  refusals: [],
  handle: makeLoginLink,
};

/** Requires the operator token: a session has rights in every tenant, which no key has, and must not prolong itself. */
async function makeLoginLink(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (principalOf(request).credential?.id !== OPERATOR_TOKEN_ID) {
    sendProblem(reply, failure('permission_denied', denied(reason('credential_not_operator'))));
    return;
  }
  const { token, maxAgeSeconds, stored } = context.services.sessions.issueLoginToken();
  await stored;
  sendJson(reply, 200, JSON.stringify({ url_path: `/#login=${token}`, expires_in_s: maxAgeSeconds }));
}

export const sessionRoutes: readonly Route[] = [openRoute, currentRoute, closeRoute, linkRoute];
