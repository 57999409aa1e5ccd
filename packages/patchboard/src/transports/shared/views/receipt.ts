import type { InputRequestView, ReceiptView } from '@patchboard/wire';
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

/** The receipt of a call whose tool needs input from the caller that waits. */
export function sendInputRequired(reply: FastifyReply, callId: string, request: InputRequestView): void {
  const receipt: ReceiptView = {
    tool_call_id: callId,
    status: 'pending',
    message: `the tool needs input: POST /v1/tool_calls/${callId}/input`,
    state: 'INPUT_REQUIRED',
    input_request: request,
  };
  sendJson(reply, 202, JSON.stringify(receipt));
}

/** Ids are plain ASCII and need no escaping. */
function receiptJson(callId: string): string {
  return `{"tool_call_id":"${callId}","status":"pending","message":"tool call created, use tool_call_id to poll result"}`;
}
