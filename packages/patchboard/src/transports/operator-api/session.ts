import { reason, SESSION_COOKIE, sessionIdIn } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { denied, failure } from '../../core/failures.ts';
import { OPERATOR_TOKEN_ID } from '../../core/access/principal.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { sendJson, type Route } from '../shared/routes/routes.ts';
import { COUNT, object, TEXT } from '../shared/routes/schemas.ts';

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

const openRoute: Route = {
  method: 'POST',
  url: '/v1/session',
  name: 'openSession',
  api: 'operator',
  summary:
    'Exchange the operator token or a one-time login token for a session cookie and a proof. Requests with the cookie must send the proof as `X-Session-Proof`.',
  // The token in the body is the credential.
  scope: null,
  body: object({ token: TEXT }),
  responses: {
    200: { description: 'the cookie is set', schema: object({ expires_in_s: COUNT, proof: TEXT }) },
  },
  refusals: ['auth_required', 'rate_limited'],
  handle: openSession,
};

async function openSession(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { token } = request.body as { token: string };
  const session = await context.services.sessions.open(token, request.ip);
  if ('code' in session) {
    sendProblem(reply, session);
    return;
  }
  reply.header('set-cookie', cookieOf(session.id, session.maxAgeSeconds, isOverTls(request)));
  sendJson(reply, 200, JSON.stringify({ expires_in_s: session.maxAgeSeconds, proof: session.proof }));
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

export const sessionRoutes: readonly Route[] = [openRoute, closeRoute, linkRoute];
