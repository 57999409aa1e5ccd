import type { CallView, InputRoundView } from '@patchboard/wire';
import { cell } from './output.ts';
import { verbatimJson, verbatimJsonLine } from './terminal-text.ts';

/** Returns the input requests of a call with their responses, for `calls show`. */
export function inputLines(call: CallView): string[] {
  if (call.inputs === undefined) return [];
  return ['\ninput requests', ...call.inputs.flatMap((round) => roundLines(call, round))];
}

function roundLines(call: CallView, round: InputRoundView): string[] {
  const isOpen = call.input_request?.id === round.id;
  const lines = [`  ${cell(round.id)}  ${cell(round.requested_at)}  ${cell(round.message)}`];
  if (round.url !== undefined) lines.push(`    ${cell(round.url)}`);
  if (isOpen && round.schema !== undefined)
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
