import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpContext } from '../shared/context.ts';
import type { Route } from '../shared/routes.ts';
import { TEXT } from '../shared/schemas.ts';
import { LOGIN_SCRIPT } from './login-script.ts';
import { HOME_PAGE, HOME_POLICY } from './page.ts';

const homeRoute: Route = {
  method: 'GET',
  url: '/',
  name: 'home',
  face: 'home',
  summary: 'A page for people, with links.',
  scope: null,
  answers: { 200: { description: 'HTML', schema: TEXT, type: 'text/html' } },
  refusals: [],
  handle: home,
};

function home(_context: HttpContext, _request: FastifyRequest, reply: FastifyReply): undefined {
  reply
    .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': HOME_POLICY })
    .send(HOME_PAGE);
}

const loginScriptRoute: Route = {
  ...homeRoute,
  url: '/ui/login.js',
  name: 'loginScript',
  summary: 'The script of that page: it exchanges a login link for a session.',
  answers: { 200: { description: 'JavaScript', schema: TEXT, type: 'text/javascript' } },
  handle: loginScript,
};

function loginScript(_context: HttpContext, _request: FastifyRequest, reply: FastifyReply): undefined {
  reply.header('content-type', 'text/javascript; charset=utf-8').send(LOGIN_SCRIPT);
}

/** For people who open the address in a browser. */
export const homeRoutes: readonly Route[] = [homeRoute, loginScriptRoute];
