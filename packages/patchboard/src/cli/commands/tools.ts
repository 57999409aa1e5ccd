import { readableDuration, TOOL_SOURCES, type ToolDetailView, type ToolView } from '@patchboard/wire';
import { Option } from 'commander';
import { TOOL_FORMATS, type ToolFormat } from '../../protocols/formats.ts';
import { connect, withServerOptions, type CliContext, type ServerOptions } from '../context.ts';
import { cell } from '../output.ts';
import type { Registrar } from '../program.ts';
import { printable, printableJson } from '../terminal-text.ts';

interface ListFlags extends ServerOptions {
  readonly source?: string;
}

interface ExportFlags extends ServerOptions {
  readonly format: ToolFormat;
}

export function toolsCommand(context: CliContext): Registrar {
  return (program) => {
    const tools = program.command('tools').description('list, show and export the callable tools');
    withServerOptions(tools.command('ls', { isDefault: true }))
      .description('list tools (default)')
      .addOption(new Option('--source <source>', 'only tools of this source').choices(TOOL_SOURCES))
      .addHelpText('after', '\nExample:\n  $ patchboard tools ls --source client')
      .action((flags: ListFlags) => list(context, flags));
    withServerOptions(tools.command('show'))
      .description('show all details of a tool')
      .argument('<tool>', 'name of the tool')
      .addHelpText('after', '\nExample:\n  $ patchboard tools show weather.query')
      .action((name: string, flags: ServerOptions) => show(context, name, flags));
    withServerOptions(tools.command('export'))
      .description('write all tools in the format of a model vendor, of MCP or of a prompt')
      .addOption(new Option('--format <format>', 'output format').choices(TOOL_FORMATS).default('openai'))
      .addHelpText('after', '\nExample:\n  $ patchboard tools export --format anthropic > tools.json')
      .action((flags: ExportFlags) => exportTools(context, flags));
  };
}

async function list(context: CliContext, flags: ListFlags): Promise<void> {
  const { output } = context;
  const all = await (await connect(context, flags)).tools();
  const tools = all.filter((tool) => flags.source === undefined || tool.source === flags.source);
  if (flags.json === true) return output.json({ tools });
  if (tools.length === 0) return output.note('no tools');
  output.table(
    [{ title: 'NAME' }, { title: 'SOURCE' }, { title: 'RISK' }, { title: 'DESCRIPTION', flexible: true }],
    tools.map((tool) => [cell(tool.name), cell(tool.source), riskOf(tool), cell(tool.description)]),
  );
}

function riskOf({ annotations }: ToolView): string {
  if (annotations.requires_approval === true) return 'approval';
  if (annotations.destructive === true) return 'destructive';
  return annotations.readonly === true ? 'read-only' : '';
}

async function show(context: CliContext, name: string, flags: ServerOptions): Promise<void> {
  const { output } = context;
  const tool = await (await connect(context, flags)).tool(name);
  if (flags.json === true) return output.json(tool);
  output.data(`${output.paint('bold', cell(tool.name))}  ${cell(tool.description)}\n`);
  for (const [label, value] of factsOf(tool)) output.data(`${label.padEnd(12)} ${cell(value)}`);
  output.data(`\narguments\n${printableJson(tool.schema)}`);
  if (tool.output_schema !== null) output.data(`\nresult\n${printableJson(tool.output_schema)}`);
  output.data(`\n$ patchboard call ${printable(tool.name)}${exampleArguments(tool)}`);
}

/** Prints a prompt as text and any other format as JSON. */
async function exportTools(context: CliContext, flags: ExportFlags): Promise<void> {
  const { output } = context;
  const formatted = await (await connect(context, flags)).formatTools(flags.format);
  if (!('text' in formatted) || flags.json === true) return output.json(formatted);
  output.data(context.isTerminal ? printable(formatted.text) : formatted.text);
}

function factsOf(tool: ToolDetailView): [label: string, value: string][] {
  const { provider } = tool;
  const owner = provider.client_id === null ? '' : ` ${provider.client_id}`;
  return [
    ['runs on', `${provider.kind}${owner}${provider.online ? '' : ', offline'}`],
    ['risk', riskOf(tool) || 'not stated'],
    ...(tool.annotations.asks_input === true ? [['input', 'may ask its caller'] as [string, string]] : []),
    ['time limit', readableDuration(tool.timeout_ms)],
    ['wire name', tool.wire_name],
    ['version', tool.version],
  ];
}

/** Returns the required arguments with placeholders. */
function exampleArguments(tool: ToolDetailView): string {
  const required: unknown = typeof tool.schema === 'boolean' ? [] : tool.schema['required'];
  if (!Array.isArray(required)) return '';
  return required.map((name) => ` ${printable(String(name))}=…`).join('');
}
