import { didYouMean } from '../core/spelling.ts';
import type { CoercedArgument } from './coerce.ts';
import { placeFinder, type PlaceInText } from './places.ts';
import type { ParsedToolRequest, ToolCallingProtocol } from './protocol.ts';
import { parseReply } from './reply-reader.ts';
import { askedName, resolveRequest, type FindTool } from './resolve.ts';

/** What a reply holds, for people and programs that look at it: the shape of `patchboard parse --json`. */
export interface ParseReport {
  readonly requests: readonly ReportedRequest[];
  readonly errors: readonly ReportedProblem[];
  /** Only where there is something to say. */
  readonly warnings?: readonly ReportedProblem[];
}

export interface ReportedRequest extends PlaceInText {
  readonly requestId: string;
  readonly toolName: string;
  readonly command?: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** How each argument was read; only where the tool is known. */
  readonly arguments?: readonly CoercedArgument[];
  readonly noReply?: boolean;
}

export interface ReportedProblem extends PlaceInText {
  readonly code: string;
  readonly message: string;
}

/** A reply may ask for thousands of tools that are none; to the first few the one that was meant is looked for. */
const NAMES_CORRECTED = 20;

/**
 * `find`: null where no tools are at hand, and arguments stay as they were written. `names`: of the tools that may be
 * called; `find` may know others, which are denied.
 */
export function reportReply<State>(
  protocol: ToolCallingProtocol<State>,
  text: string,
  find: FindTool | null,
  names: readonly string[] = [],
): ParseReport {
  const place = placeFinder(text);
  const { requests, errors } = parseReply(protocol, text);
  const problems: ReportedProblem[] = errors.map(({ code, message, offset }) => ({
    code,
    message,
    ...place(offset),
  }));
  const warnings: ReportedProblem[] = [];
  const callable = new Set(names);
  let unknown = 0;
  const reported = requests.map((request): ReportedRequest => {
    const at = place(request.offset);
    const plain = asWritten(request, at);
    if (find === null) {
      warnings.push(...Object.keys(request.meta ?? {}).map((key) => unused(key, at)));
      return plain;
    }
    const resolved = resolveRequest(protocol, request, find);
    if (resolved === undefined) {
      const name = askedName(request);
      const hint = unknown < NAMES_CORRECTED ? didYouMean(name, names) : '';
      unknown += 1;
      problems.push({ code: 'tool_not_found', message: `tool not found: ${name}${hint}`, ...at });
      return plain;
    }
    if (!callable.has(resolved.tool.name)) {
      const message = `permission denied: this agent may not call ${resolved.tool.name}`;
      problems.push({ code: 'permission_denied', message, ...at });
      return plain;
    }
    problems.push(...resolved.problems.map((message) => ({ code: 'input_invalid', message, ...at })));
    warnings.push(...resolved.warnings.map((message) => ({ code: 'key_unused', message, ...at })));
    const { command: _part, ...rest } = plain;
    return { ...rest, toolName: resolved.tool.name, args: resolved.args, arguments: resolved.report };
  });
  problems.sort((a, b) => a.line - b.line || a.column - b.column);
  return { requests: reported, errors: problems, ...(warnings.length === 0 ? {} : { warnings }) };
}

function asWritten(request: ParsedToolRequest, { line, column }: PlaceInText): ReportedRequest {
  const { requestId, toolName, command, args, noReply } = request;
  return {
    requestId,
    toolName,
    ...(command === undefined ? {} : { command }),
    args,
    line,
    column,
    ...(noReply === true ? { noReply } : {}),
  };
}

function unused(key: string, at: PlaceInText): ReportedProblem {
  return {
    code: 'key_unused',
    message: `"${key}" is an argument only where the tool has one of that name`,
    ...at,
  };
}
