import type { ParseReportView } from '@patchboard/wire';
import { openerAt } from '@patchboard/wire/vcp';

/** A marked range of the text. */
export interface TextSpan {
  readonly from: number;
  readonly to: number;
  readonly kind: 'request' | 'damage' | 'plain';
}

export interface Fix {
  readonly kind: 'closeValue' | 'closeBlock';
  /** The corrected text. */
  readonly text: string;
}

const START = '<<<[TOOL_REQUEST]>>>';
const END = '<<<[END_TOOL_REQUEST]>>>';

/** Lines and columns count from 1, columns in UTF-16 units. */
export function offsetOf(text: string, line: number, column: number): number {
  let at = 0;
  for (let seen = 1; seen < line; seen += 1) {
    const next = text.indexOf('\n', at);
    if (next === -1) return text.length;
    at = next + 1;
  }
  return Math.min(at + column - 1, text.length);
}

/** Splits the whole text into requests, errors, and the rest. */
export function spansOf(text: string, protocol: string, report: ParseReportView): readonly TextSpan[] {
  const requests = report.requests.map(({ line, column }) => {
    const from = offsetOf(text, line, column);
    return { from, to: endOf(text, protocol, from), kind: 'request' as const };
  });
  const damages = report.errors.map(({ line, column }) => {
    const from = offsetOf(text, line, column);
    return {
      from,
      to: Math.max(lineEnd(text, from), Math.min(from + 1, text.length)),
      kind: 'damage' as const,
    };
  });
  const cuts = [
    ...new Set([0, text.length, ...[...requests, ...damages].flatMap(({ from, to }) => [from, to])]),
  ].sort((one, other) => one - other);
  return cuts.slice(0, -1).map((from, index) => {
    const to = cuts[index + 1] ?? text.length;
    const covers = (span: { from: number; to: number }): boolean => span.from <= from && to <= span.to;
    const kind = damages.some(covers) ? 'damage' : requests.some(covers) ? 'request' : 'plain';
    return { from, to, kind };
  });
}

/** A VCP request ends with its marker; for JSON only the line is known. */
function endOf(text: string, protocol: string, from: number): number {
  if (protocol !== 'vcp') return lineEnd(text, from);
  const end = text.indexOf(END, from);
  return end === -1 ? text.length : end + END.length;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/** A fix for a damaged request, if it is unambiguous. */
export function fixFor(text: string, error: { code: string; line: number; column: number }): Fix | null {
  const at = offsetOf(text, error.line, error.column);
  const next = text.indexOf(START, at + 1);
  const limit = next === -1 ? text.length : next;
  if (error.code === 'value_unclosed') {
    const tag = openerAt(text, at)?.tag ?? '';
    const place = Math.min(lineEnd(text, at), limit);
    return {
      kind: 'closeValue',
      text: closed(`${text.slice(0, place)}「末${tag}」${text.slice(place)}`, at),
    };
  }
  if (error.code === 'block_unclosed') return { kind: 'closeBlock', text: closed(text, at) };
  return null;
}

/** Inserts an end marker before the next request, if it is missing. */
function closed(text: string, from: number): string {
  const next = text.indexOf(START, from + START.length);
  const limit = next === -1 ? text.length : next;
  const body = text.slice(from, limit);
  if (body.includes(END)) return text;
  const before = text.slice(0, limit).replace(/\s*$/, '');
  return `${before}\n${END}\n${text.slice(limit)}`;
}

export const SAMPLE = `Let me work that out.
${START}
tool_name:「始」calculation.eval「末」
expression:「始」(3+4)*6「末」
${END}
`;
