import {
  isTerminal,
  rfc3339,
  statusOf,
  type ApprovalView,
  type AttemptView,
  type CallErrorView,
  type DecisionView,
  type InputRequestView,
  type InputRoundView,
  type TimelineEntryView,
} from '@patchboard/wire';
import { endedAt, type Approval, type Call } from '../../../core/call/call.ts';
import {
  openRequests,
  responseOf,
  shownRequest,
  waitsForInput,
  type InputRound,
} from '../../../core/call/input.ts';
import { listedResult } from '../../../core/call/listed-content.ts';
import { timesOf } from '../../../core/call/call-times.ts';
import type { Decision } from '../../../core/access/guard.ts';

/**
 * Serializes the record. Arguments and result are stored as JSON text and inserted without parsing. `node`: see
 * `Calls.nodeOf`.
 */
export function callJson(call: Call, node: number | null): string {
  return recordJson(call, 'resultJson' in call.state ? call.state.resultJson : 'null', node);
}

/** The same as a row of a list: large content of the result is named, not shown. */
export function callRowJson(call: Call, node: number | null): string {
  const resultJson = 'resultJson' in call.state ? listedResult(call.state.resultJson, call.id) : 'null';
  return recordJson(call, resultJson, node);
}

function recordJson(call: Call, resultJson: string, node: number | null): string {
  const { state } = call;
  const ended = endedAt(call);
  const times = timesOf(call);
  const text = JSON.stringify;
  return (
    `{"tool_call_id":${text(call.id)},"run_id":${text(call.runId)},"tool_name":${text(call.toolName)}` +
    `,"source":"${call.source}","status":"${statusOf(state.name)}","args":${call.argsJson}` +
    `,"result":${resultJson}` +
    `,"error":${'error' in state ? text(errorView(state.error)) : 'null'}` +
    `,"created_at":${epochSeconds(call.createdAt)}` +
    `,"completed_at":${ended === null ? 'null' : epochSeconds(ended)}` +
    `,"state":"${state.name}","agent_id":${text(call.agentId)}` +
    `,"decision":${text(decisionView(call.decision))}` +
    `,"approval":${call.approval === null ? 'null' : text(approvalView(call.approval))}` +
    `,"attempts":${text(attemptViews(call))}` +
    `,"duration_ms":${times?.totalMs ?? null},"waited_ms":${times?.waitedMs ?? null},"ran_ms":${times?.ranMs ?? null}` +
    `,"deadline_at":${'deadlineAt' in state ? text(rfc3339(state.deadlineAt)) : 'null'}` +
    `,"replay_of":${text(call.replayOf)},"tool_version":${text(call.toolVersion)}${relationMembers(call)},"sandbox":${text(call.sandbox)}${workspaceMember(call)},"timeline":${text(call.timeline.map(timelineView))}${nodeMember(node)}${originMembers(call)}${inputMembers(call)}}`
  );
}

function relationMembers({ traceId, parentCallId }: Call): string {
  const trace = traceId === null ? '' : `,"trace_id":${JSON.stringify(traceId)}`;
  return parentCallId === null ? trace : `${trace},"parent_call_id":${JSON.stringify(parentCallId)}`;
}

function workspaceMember({ workspace }: Call): string {
  return workspace === undefined ? '' : `,"workspace":"${workspace}"`;
}

function nodeMember(node: number | null): string {
  return node === null ? '' : `,"node":${node}`;
}

function originMembers({ origin }: Call): string {
  return origin?.mcpClient === undefined ? '' : `,"mcp_client":${JSON.stringify(origin.mcpClient)}`;
}

function inputMembers(call: Call): string {
  if (call.inputs.length === 0) return '';
  const inputs = `,"inputs":${JSON.stringify(call.inputs.map(inputRoundView))}`;
  const open = inputRequestOf(call);
  return open === null ? inputs : `,"input_request":${JSON.stringify(open)}${inputs}`;
}

/** The first input request without a response; null if the call does not wait for input. */
export function inputRequestOf(call: Call): InputRequestView | null {
  const open = waitsForInput(call) ? openRequests(call)[0] : undefined;
  return open === undefined ? null : inputRequestView(open);
}

function inputRequestView(round: InputRound): InputRequestView {
  return { ...shownRequest(round), expires_at: rfc3339(round.expiresAt) };
}

function inputRoundView(round: InputRound): InputRoundView {
  const { requestedAt, response } = round;
  const asked = { ...inputRequestView(round), requested_at: rfc3339(requestedAt) };
  if (response === null) return asked;
  const { action, content } = responseOf(response);
  return {
    ...asked,
    action,
    ...(action === 'accept' && round.schema !== null ? { content } : {}),
    responded_at: rfc3339(response.at),
  };
}

function epochSeconds(epochMs: number): number {
  return Math.floor(epochMs / 1000);
}

function errorView(error: CallErrorView): CallErrorView {
  const { code, message, reasons, retryable, outcome, recommendations, note } = error;
  return {
    code,
    message,
    ...(reasons === undefined ? {} : { reasons }),
    retryable,
    ...(outcome === undefined ? {} : { outcome }),
    ...(recommendations === undefined ? {} : { recommendations }),
    ...(note === undefined ? {} : { note }),
  };
}

export function decisionView(decision: Decision): DecisionView {
  const { effect, rule, reason, reasons, policyVersion } = decision;
  const more = reasons === undefined ? {} : { reasons };
  return { effect, rule, reason, ...more, policy_version: policyVersion };
}

function approvalView(approval: Approval): ApprovalView {
  const { digest, expiresAt, meta, decision, decidedBy, decidedAt, note, originalArgsJson } = approval;
  return {
    required: true,
    digest,
    expires_at: rfc3339(expiresAt),
    ...(meta === undefined ? {} : { meta }),
    ...(decision === null ? {} : { decision }),
    ...(decidedBy === null ? {} : { decided_by: decidedBy }),
    ...(decidedAt === null ? {} : { decided_at: rfc3339(decidedAt) }),
    ...(note === null ? {} : { note }),
    ...(originalArgsJson === null ? {} : { original_args: JSON.parse(originalArgsJson) as unknown }),
  };
}

/** An attempt lasts until the next one begins or the call ends; the code of that entry is the reason. */
function attemptViews({ timeline }: Call): AttemptView[] {
  const attempts: AttemptView[] = [];
  for (const [index, entry] of timeline.entries()) {
    // After an input request the same attempt goes on.
    if (entry.attempt === undefined || entry.attempt === attempts.at(-1)?.attempt) continue;
    const next = timeline
      .slice(index + 1)
      .find(({ state, attempt }) => isTerminal(state) || (attempt ?? entry.attempt) !== entry.attempt);
    attempts.push({
      attempt: entry.attempt,
      started_at: rfc3339(entry.at),
      ended_at: next === undefined ? null : rfc3339(next.at),
      code: next?.code ?? null,
      ...(entry.device === undefined ? {} : { device: entry.device }),
    });
  }
  return attempts;
}

function timelineView({ state, at, attempt, code }: Call['timeline'][number]): TimelineEntryView {
  return {
    state,
    at: rfc3339(at),
    ...(attempt === undefined ? {} : { attempt }),
    ...(code === undefined ? {} : { code }),
  };
}
