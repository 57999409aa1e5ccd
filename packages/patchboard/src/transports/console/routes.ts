import { reason } from '@patchboard/wire';
import { fileURLToPath } from 'node:url';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { failure } from '../../core/failures.ts';
import { acceptsEncoding } from '../shared/http/accepted-encoding.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { type RequestWith, route, type Route } from '../shared/routes/routes.ts';
import { object, TEXT } from '../shared/routes/schemas.ts';
import { ConsoleFiles, type ConsoleFile } from './files.ts';
import { NOT_BUILT_PAGE } from './not-built.ts';

/**
 * Content security policy: no inline script or style, no other host, no framing. Pictures and audio of results are `blob:`
 * URLs, which only the scripts of the page can create.
 */
const PAGE_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "worker-src 'self'",
  "img-src 'self' blob:",
  "media-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The same relative path from the compiled files and from the sources. */
const BUILT = fileURLToPath(new URL('../../../dist/console/', import.meta.url));
const files = new ConsoleFiles(BUILT);

const homeRoute: Route = {
  method: 'GET',
  url: '/',
  name: 'home',
  api: 'console',
  summary: 'The console.',
  scope: null,
  responses: { 200: { description: 'HTML', schema: TEXT, type: 'text/html' } },
  refusals: [],
  handle: home,
};

function home(_context: HttpContext, request: FastifyRequest, reply: FastifyReply): undefined {
  sendPage(request, reply);
}

const consoleRoute: Route = route({
  ...homeRoute,
  url: '/ui/*',
  name: 'console',
  summary: 'Files of the console; every other path below is one of its pages.',
  params: object({ '*': TEXT }),
  responses: { 200: { description: 'a file, or the page', schema: TEXT, type: 'text/html' } },
  refusals: ['route_not_found'],
  handle: consoleFile,
});

function consoleFile(
  _context: HttpContext,
  request: RequestWith<{ params: { '*': string } }>,
  reply: FastifyReply,
): undefined {
  const { '*': path } = request.params;
  const file = files.find(path);
  if (file !== null) {
    sendFile(request, reply, file);
    return;
  }
  // A missing file is an error, not a page.
  if (path.startsWith('assets/') || /\.(js|css|svg|map|txt)$/.test(path)) {
    sendProblem(reply, failure('route_not_found', reason('file_unknown', { path: `/ui/${path}` })));
  } else sendPage(request, reply);
}

function sendPage(request: FastifyRequest, reply: FastifyReply): void {
  const page = files.find('index.html');
  if (page !== null) sendFile(request, reply, page);
  else
    reply
      .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_POLICY })
      .send(NOT_BUILT_PAGE);
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile): void {
  reply.headers({
    'content-type': file.type,
    'content-security-policy': PAGE_POLICY,
    'cache-control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: file.etag,
    vary: 'accept-encoding',
  });
  if (request.headers['if-none-match'] === file.etag) {
    reply.code(304).send();
    return;
  }
  const taken = request.headers['accept-encoding'];
  if (file.brotli !== null && acceptsEncoding(taken, 'br'))
    reply.header('content-encoding', 'br').send(file.brotli);
  else if (file.gzipped !== null && acceptsEncoding(taken, 'gzip'))
    reply.header('content-encoding', 'gzip').send(file.gzipped);
  else reply.send(file.bytes);
}

/** The routes of the web console. */
export const consoleRoutes: readonly Route[] = [homeRoute, consoleRoute];
