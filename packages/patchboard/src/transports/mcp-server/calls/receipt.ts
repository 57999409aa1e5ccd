import type { Call } from '../../../core/call/call.ts';
import { waitsForInput } from '../../../core/call/input.ts';
import { idMeta } from './call-result.ts';
import type { Exchange } from '../exchange.ts';
import { approvalLink } from './approval-link.ts';
import { membersOf, resultJson } from '../messages/result-json.ts';
import { RESULT_TOOL_NAME } from './result-tool-name.ts';

/** What an open call waits for. */
export type WaitsFor = 'approval' | 'input' | 'execution';

export function waitsFor(call: Call): WaitsFor {
  if (call.state.name === 'APPROVAL_REQUIRED') return 'approval';
  return waitsForInput(call) ? 'input' : 'execution';
}

/**
 * The result of a call that has not ended in time, for a client without tasks. `hasOutputSchema`: the list showed an
 * output schema, so SDK clients accept a result without structured content only as an error.
 */
export function receiptResult(exchange: Exchange, call: Call, hasOutputSchema: boolean): string {
  const waiting = waitsFor(call);
  const inbox = waiting === 'approval' ? approvalLink(exchange, call) : null;
  const receipt = {
    status: 'pending',
    tool_call_id: call.id,
    waits_for: waiting,
    ...(inbox === null ? {} : { inbox }),
  };
  const members = {
    content: [{ type: 'text', text: receiptText(call, waiting, inbox) }],
    ...(hasOutputSchema ? {} : { structuredContent: receipt }),
    isError: hasOutputSchema,
  };
  return resultJson(exchange.era, membersOf(members), { meta: idMeta(call) });
}

function receiptText(call: Call, waiting: WaitsFor, inbox: string | null): string {
  return [
    `The call ${call.id} of ${call.toolName} is recorded and has not ended: it ${waitText(waiting, inbox)}.`,
    'Do not call the tool again: that would make a second call.',
    `Fetch the result with ${RESULT_TOOL_NAME}, {"tool_call_id": "${call.id}"}.`,
  ].join('\n');
}

export function waitText(waiting: WaitsFor, inbox: string | null): string {
  switch (waiting) {
    case 'approval':
      return inbox === null ? 'waits for the approval of an operator' : `waits for approval at ${inbox}`;
    case 'input':
      return 'waits for input from its caller';
    case 'execution':
      return 'is still running';
  }
}
