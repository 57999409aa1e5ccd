import type { ApprovalRequestView } from '@patchboard/wire';
import { timeLeft } from './duration.ts';
import { lineDiff, type DiffLine } from './line-diff.ts';
import { cell } from './output.ts';
import { verbatimJson } from './terminal-text.ts';

/** Returns the facts for a decision, except the arguments. */
export function approvalFacts(request: ApprovalRequestView, now: number): [label: string, value: string][] {
  const facts: [string, string][] = [
    ['tool', `${request.tool_name}${risksOf(request)}`],
    ['does', request.description],
    ['agent', request.agent_id],
    ['run', request.run_id],
    ['call', request.tool_call_id],
    ['why', [request.reason, request.rule === '' ? '' : `(${request.rule})`].filter(Boolean).join(' ')],
    ['expires', `in ${expiresIn(request, now)}, at ${request.expires_at}`],
  ];
  return facts.filter(([, value]) => value !== '').map(([label, value]) => [label, cell(value)]);
}

export function approvalLines(request: ApprovalRequestView, now: number): string[] {
  return [
    ...approvalFacts(request, now).map(([label, value]) => `${label.padEnd(9)} ${value}`),
    'arguments',
    ...verbatimJson(request.args).split('\n'),
  ];
}

export function expiresIn(request: ApprovalRequestView, now: number): string {
  return timeLeft(Date.parse(request.expires_at) - now);
}

function risksOf({ annotations }: ApprovalRequestView): string {
  const risks = [
    annotations.destructive === true ? 'destructive' : '',
    annotations.requires_approval === true ? 'always requires approval' : '',
    annotations.readonly === true ? 'read-only' : '',
    annotations.asks_input === true ? 'may ask its caller for input' : '',
  ].filter(Boolean);
  return risks.length === 0 ? '' : ` (${risks.join(', ')})`;
}

/** Returns the line diff of two values as JSON. */
export function editLines(before: unknown, after: unknown): DiffLine[] {
  return lineDiff(verbatimJson(before), verbatimJson(after));
}
