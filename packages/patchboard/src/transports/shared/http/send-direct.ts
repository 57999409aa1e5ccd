import type { FastifyReply } from 'fastify';
import { API_HEADERS } from './security-headers.ts';
import { sendJson } from '../routes/routes.ts';

/** Names and values alternate: Node writes this form fastest. */
const HEADERS: readonly string[] = [
  ...Object.entries(API_HEADERS).flat(),
  'content-type',
  'application/json; charset=utf-8',
  'content-length',
];

/** Longer responses go through Fastify, whose hooks bound the memory of responses that are not read. */
const MAX_CHARACTERS = 16_384;

/**
 * Sends a short JSON response without Fastify, which saves a quarter of the cost of a request. A response with headers of its
 * own goes through Fastify.
 */
export function sendDirect(reply: FastifyReply, status: number, json: string): void {
  const { request, raw } = reply;
  if (
    json.length > MAX_CHARACTERS ||
    request.headers.origin !== undefined ||
    Object.keys(reply.getHeaders()).length > 0
  ) {
    sendJson(reply, status, json);
    return;
  }
  reply.hijack();
  request.counter?.count(status);
  raw.writeHead(status, [...HEADERS, String(Buffer.byteLength(json))]);
  raw.end(json);
}
