import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpContext } from '../shared/http/context.ts';
import { sendJson } from '../shared/routes/routes.ts';
import { readClient } from './client.ts';
import { LegacyEra } from './legacy-era.ts';
import type { McpSettings } from './mcp-settings.ts';
import { classify } from './message.ts';
import { errorJson } from './rpc-error.ts';
import { runRequest, type ServerParts } from './run-request.ts';

/** The MCP server of one HTTP server: the dispatcher of both protocol eras. */
export class McpServer {
  readonly #parts: ServerParts;
  readonly legacy: LegacyEra;

  constructor(settings: McpSettings, hasPages: boolean) {
    this.#parts = { settings, hasPages };
    this.legacy = new LegacyEra(this.#parts);
  }

  /** `POST /mcp`. */
  async post(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const inbound = classify(request.body, request.headers);
    switch (inbound.kind) {
      case 'rejected':
        sendJson(reply, inbound.error.status, errorJson(inbound.id, inbound.error));
        return;
      case 'modern notification':
        reply.code(202).send();
        return;
      case 'modern': {
        const { request: rpc } = inbound;
        const client = readClient(rpc.meta[CLIENT_INFO_META_KEY], rpc.meta[CLIENT_CAPABILITIES_META_KEY]);
        const given = { request, reply, rpc, era: 'modern', client, session: null } as const;
        await runRequest(this.#parts, context, given);
        return;
      }
      case 'legacy':
        await this.legacy.post(context, request, reply, inbound.body);
    }
  }
}
