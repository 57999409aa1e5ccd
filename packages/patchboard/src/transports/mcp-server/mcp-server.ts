import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server';
import type { FastifyReply } from 'fastify';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { sendJson } from '../shared/routes/routes.ts';
import { readClient } from './client.ts';
import { LegacyEra } from './legacy/legacy-era.ts';
import type { McpSettings } from './mcp-settings.ts';
import { classify } from './messages/message.ts';
import { readNarrowing } from './calls/narrowing.ts';
import { ReplyChannel } from './messages/reply-channel.ts';
import { errorJson } from './messages/rpc-error.ts';
import { type McpRequest, runRequest, type ServerParts } from './run-request.ts';

/** The MCP server of one HTTP server: the dispatcher of both protocol eras. */
export class McpServer {
  readonly #parts: ServerParts;
  readonly legacy: LegacyEra;

  constructor(settings: McpSettings, hasPages: boolean) {
    this.#parts = { settings, hasPages };
    this.legacy = new LegacyEra(this.#parts);
  }

  /** `POST /mcp`. */
  async post(context: HttpContext, request: McpRequest, reply: FastifyReply): Promise<void> {
    try {
      await this.#post(context, request, reply);
    } finally {
      // A call that goes on may refer to its request, and must not keep the body.
      context.bodies.release(request);
    }
  }

  async #post(context: HttpContext, request: McpRequest, reply: FastifyReply): Promise<void> {
    const narrowing = readNarrowing(request.query.tools);
    if ('code' in narrowing) {
      sendProblem(reply, narrowing);
      return;
    }
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
        const channel = new ReplyChannel(context, reply, principalOf(request));
        const given = { request, channel, narrowing, rpc, client, session: null };
        await runRequest(this.#parts, context, { ...given, era: 'modern' });
        return;
      }
      case 'legacy':
        await this.legacy.post({ context, request, reply, narrowing }, inbound.body);
    }
  }
}
