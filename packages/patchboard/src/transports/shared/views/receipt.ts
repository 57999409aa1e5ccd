import type { InputRequestView, ReceiptView } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { sendJson } from '../routes/routes.ts';
import { sendDirect } from '../http/send-direct.ts';

/** Sends the most frequent response. */
export function sendReceipt(reply: FastifyReply, callId: string): void {
  sendDirect(reply, 202, receiptJson(callId));
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
