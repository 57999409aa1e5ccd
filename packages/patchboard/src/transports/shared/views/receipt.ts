import type { FastifyReply } from 'fastify';
import { sendJson } from '../routes/routes.ts';
import { API_HEADERS } from '../http/security-headers.ts';

/** Names and values alternate: Node writes this form fastest. */
const HEADERS: readonly string[] = [
  ...Object.entries(API_HEADERS).flat(),
  'content-type',
  'application/json; charset=utf-8',
  'content-length',
];

/**
 * Sends the most frequent response. Bypassing Fastify saves a quarter of the request's cost.
 * A request that needs further headers goes through Fastify.
 */
export function sendReceipt(reply: FastifyReply, callId: string): void {
  const json = receiptJson(callId);
  const { request, raw } = reply;
  if (request.headers.origin !== undefined || reply.hasHeader('connection')) {
    sendJson(reply, 202, json);
    return;
  }
  reply.hijack();
  request.counter?.count(202);
  raw.writeHead(202, [...HEADERS, String(json.length)]);
  raw.end(json, 'latin1');
}

/** Ids are plain ASCII and need no escaping. */
function receiptJson(callId: string): string {
  return `{"tool_call_id":"${callId}","status":"pending","message":"tool call created, use tool_call_id to poll result"}`;
}
