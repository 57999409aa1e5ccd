import { DECLINE_INPUT } from '@patchboard/client';
import type { CallView, InputRequestView } from '@patchboard/wire';
import { readArguments } from '../arguments.ts';
import { connect, withServerOptions, type CliContext, type ServerOptions } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import { formOf, isForProgram, respondFromForm } from '../input-form.ts';
import { cell } from '../output.ts';
import type { Registrar } from '../program.ts';
import { verbatimJson } from '../terminal-text.ts';

interface InputFlags extends ServerOptions {
  readonly decline?: boolean;
}

const HELP = `
Only the agent that made the call can respond. Without content, a terminal gets
a form; a link needs no content.

Content:
  key=value     the schema of the request determines the type of the value
  key:=json     any JSON value
  {…}           the content as one JSON object
  -             a JSON object from standard input

Examples:
  $ patchboard input tc_…
  $ patchboard input tc_… city=Paris days:=3
  $ patchboard input tc_… '{"city":"Paris"}'
  $ patchboard input tc_… --decline`;

export function inputCommand(context: CliContext): Registrar {
  return (program) => {
    withServerOptions(program.command('input'))
      .description('respond to the input request of a running call')
      .argument('<id>', 'id of the call')
      .argument('[content...]', 'key=value, key:=json, a JSON object, or - for standard input')
      .option('--decline', 'decline the request')
      .addHelpText('after', HELP)
      .action((id: string, content: string[], flags: InputFlags) => respond(context, id, content, flags));
  };
}

async function respond(
  context: CliContext,
  id: string,
  content: readonly string[],
  flags: InputFlags,
): Promise<void> {
  const client = await connect(context, flags);
  const asked = await client.get(id);
  const { input_request: request } = asked;
  if (request === undefined) throw new UsageError(`call ${id} does not wait for input: it is ${asked.state}`);
  const decline = { id: request.id, action: 'decline' } as const;
  if (flags.decline !== true && content.length === 0 && context.canAsk && flags.json !== true) {
    const form = { ...formOf(context), signal: new AbortController().signal };
    if ((await respondFromForm(form, client, id, request)) === DECLINE_INPUT)
      await client.respondInput(id, decline);
    return report(context, await client.get(id), flags);
  }
  const response =
    flags.decline === true ? decline : { id: request.id, ...(await contentOf(context, request, content)) };
  report(context, await client.respondInput(id, response), flags);
}

async function contentOf(
  { output, sources }: CliContext,
  request: InputRequestView,
  content: readonly string[],
): Promise<{ readonly content?: unknown }> {
  const { message, kind, schema, url } = request;
  if (url !== undefined) return {};
  const [first = ''] = content;
  if (content.length === 0) {
    output.note(message);
    if (isForProgram(request))
      throw new UsageError(
        `the request is of kind ${String(kind)}, to which a terminal cannot respond: give the result as a JSON object, or --decline`,
      );
    output.note(verbatimJson(schema ?? {}));
    throw new UsageError('give the content: key=value, a JSON object, or - for standard input; or --decline');
  }
  const isObject = content.length === 1 && first.trimStart().startsWith('{');
  const given = isObject ? { pairs: [], args: first } : { pairs: content };
  return { content: await readArguments(given, sources, () => Promise.resolve(schema ?? true)) };
}

function report({ output }: CliContext, call: CallView, flags: InputFlags): void {
  if (flags.json === true) output.json(call);
  else output.data(`${cell(call.tool_call_id)} ${cell(call.state)}`);
}
