import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonSchema } from '@patchboard/wire';
import { Option } from 'commander';
import { messageOf } from '../../core/failures.ts';
import { isRecord } from '@patchboard/wire/json';
import { reportReply, type ParseReport } from '../../protocols/parse-report.ts';
import { PROTOCOL_IDS, protocolOf, type ProtocolId } from '../../protocols/protocols.ts';
import type { FindTool, KnownTool } from '../../protocols/resolve.ts';
import type { CliContext } from '../context.ts';
import { withJsonOptions } from '../json-options.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { readInput } from '../read-input.ts';
import { cell } from '../output.ts';
import type { Registrar } from '../program.ts';

interface ParseFlags {
  readonly protocol: ProtocolId;
  readonly tools?: string;
  readonly json?: boolean;
}

export function parseCommand(context: CliContext): Registrar {
  return (program) => {
    withJsonOptions(program.command('parse'))
      .description("parse a model's reply and show its calls and errors; needs no server")
      .argument('[file]', 'the reply, - for standard input', '-')
      .addOption(
        new Option('--protocol <protocol>', 'text protocol of the reply')
          .choices(PROTOCOL_IDS)
          .default('vcp'),
      )
      .option('--tools <file>', 'JSON with tools and their schemas, which determine the argument types')
      .addHelpText(
        'after',
        '\nNo tool is called. Errors in the reply are part of the output; the command then\nexits with 1.\n' +
          '\nExample:\n  $ patchboard parse --protocol vcp --json reply.txt',
      )
      .action((file: string, flags: ParseFlags) => parse(context, file, flags));
  };
}

async function parse(context: CliContext, file: string, flags: ParseFlags): Promise<void> {
  const { output, exitWith } = context;
  if (file === '-' && flags.tools === '-')
    throw new UsageError('only one of the reply and --tools can be standard input');
  const tools = flags.tools === undefined ? null : await toolsIn(context, flags.tools);
  const find: FindTool | null = tools === null ? null : (name) => tools.get(name);
  const names = [...(tools?.keys() ?? [])];
  const text = await readInput(context.sources, file);
  const report = await reportReply(protocolOf(flags.protocol), text, { find, names, pause: nextTurn });
  if (report.errors.length > 0) exitWith(EXIT.toolFailed);
  if (flags.json === true) return output.json(report);
  show(context, report);
}

function show({ output }: CliContext, { requests, errors, warnings = [], omitted }: ParseReport): void {
  for (const { requestId, toolName, command, args, line, column } of requests) {
    const name = command === undefined ? toolName : `${toolName} ${command.trim()}`;
    output.data(`${line}:${column}  ${output.paint('bold', cell(name))}  ${cell(requestId)}`);
    for (const [key, value] of Object.entries(args))
      output.data(`    ${cell(key)} = ${cell(JSON.stringify(value))}`);
  }
  for (const { line, column, code, message } of errors)
    output.data(`${line}:${column}  ${output.paint('red', code)}  ${cell(message)}`);
  for (const { line, column, code, message } of warnings)
    output.data(`${line}:${column}  ${output.paint('yellow', code)}  ${cell(message)}`);
  if (requests.length + errors.length === 0) output.note('the reply contains no calls');
  if (omitted !== undefined && omitted.requests > 0)
    output.note(`${omitted.requests} more calls are not listed`);
}

async function toolsIn(context: CliContext, file: string): Promise<ReadonlyMap<string, KnownTool>> {
  const text = await readInput(context.sources, file);
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${messageOf(error)}`);
  }
  const parsed = readToolFile(content);
  if (!parsed.ok) throw new UsageError(`${file} ${parsed.problem}`);
  return new Map(parsed.tools);
}

/** A tool with a name that a reply may call it by. */
type NamedTool = readonly [name: string, tool: KnownTool];

type ToolFile =
  | { readonly ok: true; readonly tools: readonly NamedTool[] }
  | { readonly ok: false; readonly problem: string };

const SCHEMA_KEYS = ['schema', 'input_schema', 'inputSchema', 'parameters'] as const;

/** Reads tools from a file: the response of `GET /v1/tools` in any format, or a list of `{name, schema}`. */
function readToolFile(content: unknown): ToolFile {
  const list = isRecord(content) ? content['tools'] : content;
  if (!Array.isArray(list))
    return { ok: false, problem: 'must hold a list of tools, or an object with "tools"' };
  const tools: NamedTool[] = [];
  for (const [at, entry] of list.entries()) {
    const tool = readTool(entry);
    if (tool === null) return { ok: false, problem: `tools[${at}] must have a "name" and a "schema"` };
    tools.push(...tool);
  }
  return { ok: true, tools };
}

/** A file in the format of MCP has the wire name as `name`, and the canonical name in `_meta`. */
function readTool(entry: unknown): readonly NamedTool[] | null {
  if (!isRecord(entry)) return null;
  const body = isRecord(entry['function']) ? entry['function'] : entry;
  const { name } = body;
  const schema = SCHEMA_KEYS.map((key) => body[key]).find((value) => value !== undefined) ?? {};
  if (typeof name !== 'string' || name === '') return null;
  if (!isRecord(schema) && typeof schema !== 'boolean') return null;
  const meta = isRecord(body['_meta']) ? body['_meta'] : {};
  const canonical = meta['patchboard/name'];
  const tool = { name: typeof canonical === 'string' ? canonical : name, inputSchema: schema as JsonSchema };
  return [
    [name, tool],
    [tool.name, tool],
  ];
}
