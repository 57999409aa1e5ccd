import { reason } from '@patchboard/wire';
import { failure, type Failure } from '../../../core/failures.ts';
import type { RegisteredTool } from '../../../core/tools/registered-tool.ts';

/** The tools that one client's configuration leaves: `?tools=weather.*,github.*`. Never adds a tool. */
export interface Narrowing {
  readonly isAll: boolean;
  /** Compares the canonical name and the wire name. */
  readonly allows: (tool: Pick<RegisteredTool, 'name' | 'wireName'>) => boolean;
}

const ALL_TOOLS: Narrowing = { isAll: true, allows: () => true };
const MAX_PATTERNS = 100;
/** Of all patterns together: each is a search in every name. */
const MAX_WILDCARDS = 100;
const PATTERN = /^[A-Za-z0-9_.\-*]{1,128}$/;

/** Names with `*` for any characters, separated by commas. */
export function readNarrowing(text: string | undefined): Narrowing | Failure {
  if (text === undefined || text === '') return ALL_TOOLS;
  const patterns = text.split(',').map((pattern) => pattern.trim());
  const bad = patterns.find((pattern) => !PATTERN.test(pattern));
  const wildcards = text.split('*').length - 1;
  if (bad !== undefined || patterns.length > MAX_PATTERNS || wildcards > MAX_WILDCARDS)
    return failure('body_invalid', reason('mcp_tools_pattern', { pattern: (bad ?? text).slice(0, 128) }));
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const wild = patterns.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split('*'));
  const fits = (name: string): boolean => exact.has(name) || wild.some((parts) => matches(name, parts));
  return {
    isAll: false,
    allows: ({ name, wireName }) => fits(name) || fits(wireName),
  };
}

/** Whether the text consists of the parts, in their order, with anything between them. */
function matches(text: string, parts: readonly string[]): boolean {
  const [first = '', ...rest] = parts;
  const last = rest.pop() ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}
