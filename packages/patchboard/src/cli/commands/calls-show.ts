import { contentText, isContentValue, type CallView, type InputRoundView } from '@patchboard/wire';
import type { CliContext } from '../context.ts';
import { durationCell } from '../duration.ts';
import { isForProgram } from '../input-form.ts';
import { cell } from '../output.ts';
import { printable, printableJson, verbatimJson, verbatimJsonLine } from '../terminal-text.ts';
import { colourOf, stateText, timeOf } from './calls-list.ts';

export function showCall(context: CliContext, call: CallView, flags: { readonly json?: boolean }): void {
  const { output } = context;
  if (flags.json === true) return output.json(call);
  output.data(`${cell(call.tool_call_id)}  ${output.paint(colourOf(call.state), cell(stateText(call)))}\n`);
  output.facts(factsOf(call).map(([label, value]) => [label, cell(value)]));
  output.data(`\narguments\n${printableJson(call.args)}`);
  if (call.error !== null) output.data(`\nerror\n${printableJson(call.error)}`);
  else if (call.status === 'SUCCEEDED') output.data(`\nresult\n${shownResult(call.result)}`);
  for (const line of inputLines(call)) output.data(line);
  if (call.timeline.length === 0) return;
  output.data('\ntimeline');
  for (const entry of call.timeline) {
    const attempt = entry.attempt === undefined ? '' : ` attempt ${entry.attempt}`;
    output.data(
      `  ${cell(entry.at)}  ${cell(entry.state)}${attempt}${entry.code === undefined ? '' : ` ${cell(entry.code)}`}`,
    );
  }
}

function shownResult(result: unknown): string {
  return isContentValue(result) ? printable(contentText(result)) : printableJson(result);
}

function factsOf(call: CallView): [label: string, value: string][] {
  const facts: [string, string | null][] = [
    ['tool', `${call.tool_name} (${call.source})`],
    ['run', call.run_id],
    ['agent', call.agent_id],
    ['trace', call.trace_id ?? null],
    ['parent', call.parent_call_id ?? null],
    ['node', call.node === undefined ? null : String(call.node)],
    ['via', viaOf(call)],
    ['created', timeOf(call.created_at)],
    ['completed', call.completed_at === null ? null : timeOf(call.completed_at)],
    ['waited', durationCell(call.waited_ms)],
    ['ran', durationCell(call.ran_ms)],
    ['total', durationCell(call.duration_ms)],
    ['deadline', call.deadline_at],
    ['replay of', call.replay_of],
    ['sandbox', call.sandbox],
    ['decision', decisionOf(call)],
    ['approval', approvalOf(call)],
  ];
  return facts.flatMap(([label, value]) => (value === null || value === '' ? [] : [[label, value]]));
}

function viaOf({ mcp_client: client }: CallView): string | null {
  return client === undefined ? null : `${`${client.name} ${client.version}`.trim()} (MCP)`;
}

/** The effect of the policy, the rule behind it, and why. */
function decisionOf({ decision }: CallView): string {
  const { effect, rule, reason, policy_version: version } = decision;
  return `${effect} by ${rule}, policy version ${version}${reason === '' ? '' : `: ${reason}`}`;
}

function approvalOf({ approval, error, completed_at: completedAt }: CallView): string | null {
  if (approval === null) return null;
  if (approval.decision === undefined) {
    if (error?.code === 'approval_expired') return `expired at ${approval.expires_at} without a decision`;
    return completedAt === null ? `waiting until ${approval.expires_at}` : 'not decided';
  }
  const note = approval.note === undefined ? '' : `: ${approval.note}`;
  const at = approval.decided_at === undefined ? '' : ` at ${approval.decided_at}`;
  const changed = approval.original_args === undefined ? '' : ', with changed arguments';
  return `${approval.decision} by ${approval.decided_by ?? 'unknown'}${at}${changed}${note}`;
}

/** Returns the input requests of a call with their responses. */
function inputLines(call: CallView): string[] {
  if (call.inputs === undefined) return [];
  return ['\ninput requests', ...call.inputs.flatMap((round) => roundLines(call, round))];
}

function roundLines(call: CallView, round: InputRoundView): string[] {
  const isOpen = call.input_request?.id === round.id;
  const lines = [`  ${cell(round.id)}  ${cell(round.requested_at)}  ${cell(round.message)}`];
  if (round.url !== undefined) lines.push(`    ${cell(round.url)}`);
  if (isForProgram(round)) lines.push(`    ${cell(String(round.kind))}`);
  else if (isOpen && round.schema !== undefined)
    lines.push(...verbatimJson(round.schema).replaceAll(/^/gm, '    ').split('\n'));
  return [...lines, `    ${responseOf(call, round, isOpen)}`];
}

function responseOf(call: CallView, round: InputRoundView, isOpen: boolean): string {
  if (round.action !== undefined) {
    const content = round.content === undefined ? '' : ` ${verbatimJsonLine(round.content)}`;
    return `→ ${cell(round.action)}${content}  ${cell(round.responded_at ?? '')}`;
  }
  if (!isOpen) return call.completed_at === null ? 'waiting for the others' : 'no response';
  return `waiting until ${cell(round.expires_at)}: patchboard input ${cell(call.tool_call_id)}`;
}
