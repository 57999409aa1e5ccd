import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatTools, type ToolFormat } from '../../protocols/formats.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendJson } from '../shared/routes/routes.ts';

/** Answers `GET /v1/tools?format=…`. A prompt is plain text, unless the asker takes nothing but JSON. */
export function sendFormatted(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  format: ToolFormat,
): void {
  const made = formatTools(format, context.engine.tools(principalOf(request)));
  if (made.type === 'json') sendJson(reply, 200, made.json);
  else if (wantsJson(request.headers.accept)) sendJson(reply, 200, JSON.stringify({ text: made.text }));
  else reply.code(200).header('content-type', 'text/plain; charset=utf-8').send(made.text);
}

/** Which of two forms a prompt has. */
export function wantsJson(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes('application/json') && !/text\/|\*\/\*/.test(accept);
}
