import { nearestName, type Reason, reason, reasonText, type ReasonView } from '@patchboard/wire';
import { shownName } from '../core/tools/tool-names.ts';
import { toolUnknown } from '../core/tools/unknown-tool.ts';
import type { CoercedArgument } from './coerce.ts';
import { positionFinder, type TextPosition } from './text-position.ts';
import type { ParsedToolRequest, ParseError, ToolCallingProtocol } from './protocol.ts';
import { MAX_PROBLEMS, omitted, parseReplyInSlices } from './reply-reader.ts';
import { requestedName, resolveRequest, type FindTool } from './resolve.ts';

/** The requests and problems of a reply: the output of `patchboard parse --json`. */
export interface ParseReport {
  readonly requests: readonly ReportedRequest[];
  readonly errors: readonly ReportedProblem[];
  /** Absent if there are none. */
  readonly warnings?: readonly ReportedProblem[];
  /** The number of entries beyond the listed ones; absent if there are none. */
  readonly omitted?: { readonly requests: number; readonly errors: number; readonly arguments: number };
}

interface ReportedRequest extends TextPosition {
  readonly requestId: string;
  readonly toolName: string;
  readonly command?: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The coercion of the first hundred arguments; absent if the tool is unknown. */
  readonly arguments?: readonly CoercedArgument[];
  readonly noReply?: boolean;
}

interface ReportedProblem extends TextPosition {
  readonly code: string;
  readonly message: string;
  /** The codes and parameters of the message. */
  readonly reasons: readonly ReasonView[];
}

/** The tools that a report refers to. */
export interface ReportContext {
  /** Null if no tools are available: then arguments are not coerced. */
  readonly find: FindTool | null;
  /** Names of the tools that may be called. `find` may return other tools, which are denied. */
  readonly names: readonly string[];
  /** Yields to the event loop. */
  readonly pause: () => Promise<unknown>;
}

/** Maximum number of unknown tool names for which a suggestion is searched: a reply may have thousands. */
const NAMES_CORRECTED = 20;
const MAX_ARGUMENTS = 100;
/** Bounds the listed requests, in characters of JSON. The first is listed whatever its length. */
const MAX_CHARACTERS = 1_048_576;
/** Characters of JSON processed per turn of the event loop. */
const CHARACTERS_PER_TURN = 65_536;

export async function reportReply<State>(
  protocol: ToolCallingProtocol<State>,
  text: string,
  context: ReportContext,
): Promise<ParseReport> {
  const { requests, errors } = await parseReplyInSlices(protocol, text, context.pause);
  const report = new Report(protocol, text, context);
  for (const error of errors) report.addProblem(error);
  let sinceTurn = 0;
  for (const request of requests) {
    sinceTurn += report.addRequest(request);
    if (sinceTurn < CHARACTERS_PER_TURN) continue;
    sinceTurn = 0;
    await context.pause();
  }
  return report.finished();
}

type Omitted = { -readonly [part in keyof NonNullable<ParseReport['omitted']>]: number };

class Report {
  readonly #protocol: Pick<ToolCallingProtocol, 'replies'>;
  readonly #context: ReportContext;
  readonly #place: (offset: number) => TextPosition;
  readonly #callable: ReadonlySet<string>;
  readonly #requests: ReportedRequest[] = [];
  readonly #problems: ReportedProblem[] = [];
  readonly #warnings: ReportedProblem[] = [];
  readonly #omitted: Omitted = { requests: 0, errors: 0, arguments: 0 };
  #firstOmitted = Infinity;
  #characters = 0;
  #unknown = 0;

  constructor(protocol: Pick<ToolCallingProtocol, 'replies'>, text: string, context: ReportContext) {
    this.#protocol = protocol;
    this.#context = context;
    this.#callable = new Set(context.names);
    this.#place = positionFinder(text);
  }

  addProblem({
    code,
    message,
    reasons,
    offset,
    count,
  }: Pick<ParseError, 'message' | 'reasons' | 'offset' | 'count'> & { code: string }): void {
    if (count === undefined && this.#problems.length < MAX_PROBLEMS) {
      this.#problems.push({ code, message, reasons, ...this.#place(offset) });
      return;
    }
    this.#omitted.errors += count ?? 1;
    this.#firstOmitted = Math.min(this.#firstOmitted, offset);
  }

  /** Returns the length of the request as JSON. */
  addRequest(request: ParsedToolRequest): number {
    if (this.#characters > MAX_CHARACTERS) {
      this.#omitted.requests += 1;
      return 0;
    }
    const reported = this.#report(request);
    const { length } = JSON.stringify(reported);
    this.#characters += length;
    if (this.#characters <= MAX_CHARACTERS || this.#requests.length === 0) this.#requests.push(reported);
    else this.#omitted.requests += 1;
    return length;
  }

  finished(): ParseReport {
    const { requests, errors, arguments: args } = this.#omitted;
    const problems = this.#problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
    if (errors > 0) {
      const { code, message, reasons, offset } = omitted(errors, this.#firstOmitted);
      problems.push({ code, message, reasons, ...this.#place(offset) });
    }
    return {
      requests: this.#requests,
      errors: problems,
      ...(this.#warnings.length === 0 ? {} : { warnings: this.#warnings }),
      ...(requests + errors + args === 0 ? {} : { omitted: this.#omitted }),
    };
  }

  #report(request: ParsedToolRequest): ReportedRequest {
    const { find, names } = this.#context;
    const { offset } = request;
    const at = this.#place(offset);
    const plain = asWritten(request, at);
    if (find === null) {
      this.#warnings.push(...Object.keys(request.meta ?? {}).map((key) => unused(key, at)));
      return plain;
    }
    const resolved = resolveRequest(this.#protocol, request, find);
    if (resolved === undefined) {
      const name = shownName(requestedName(request));
      const meant = this.#unknown < NAMES_CORRECTED ? nearestName(name, names) : null;
      this.#unknown += 1;
      this.addProblem({ ...problemOf('tool_not_found', toolUnknown(name, meant)), offset });
      return plain;
    }
    if (!this.#callable.has(resolved.tool.name)) {
      const why = reason('agent_may_not_call', { tool: resolved.tool.name });
      this.addProblem({ ...problemOf('permission_denied', why), offset });
      return plain;
    }
    for (const why of resolved.problems) this.addProblem({ ...problemOf('input_invalid', why), offset });
    this.#warnings.push(...resolved.warnings.map((why) => ({ ...problemOf('key_unused', why), ...at })));
    const { command: _part, ...rest } = plain;
    const { tool, args, report } = resolved;
    this.#omitted.arguments += Math.max(0, report.length - MAX_ARGUMENTS);
    return { ...rest, toolName: tool.name, args, arguments: report.slice(0, MAX_ARGUMENTS) };
  }
}

function asWritten(request: ParsedToolRequest, { line, column }: TextPosition): ReportedRequest {
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

function unused(key: string, at: TextPosition): ReportedProblem {
  return { ...problemOf('key_unused', reason('key_needs_argument', { key })), ...at };
}

function problemOf(code: string, why: Reason): Omit<ReportedProblem, keyof TextPosition> {
  return { code, message: reasonText(why), reasons: [why] };
}
