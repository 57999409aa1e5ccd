import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatTools, type ToolFormat } from '../../protocols/formats.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendJson } from '../shared/routes/routes.ts';
import { MCP_FORMAT } from '../shared/views/tool-lists.ts';

/** Answers `GET /v1/tools?format=…`. A prompt is plain text, unless the asker takes nothing but JSON. */
export function sendFormatted(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  format: ToolFormat,
): void {
  const principal = principalOf(request);
  if (format === 'mcp') {
    sendJson(reply, 200, context.toolLists.for(principal, MCP_FORMAT).json);
    return;
  }
  const made = formatTools(format, context.engine.tools(principal));
  if (made.type === 'json') sendJson(reply, 200, made.json);
  else if (wantsJson(request.headers.accept)) sendJson(reply, 200, JSON.stringify({ text: made.text }));
  else reply.code(200).header('content-type', 'text/plain; charset=utf-8').send(made.text);
}

/** Which of two forms a prompt has. */
export function wantsJson(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes('application/json') && !/text\/|\*\/\*/.test(accept);
}
