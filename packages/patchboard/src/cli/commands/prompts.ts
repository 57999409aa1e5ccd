import type { PromptMessageView, PromptSummaryView } from '@patchboard/wire';
import { parsePair } from '../arguments.ts';
import { connect, withServerOptions, type CliContext, type ServerOptions } from '../context.ts';
import { cell } from '../output.ts';
import type { Registrar } from '../program.ts';
import { printable, printableJson } from '../terminal-text.ts';

export function promptsCommand(context: CliContext): Registrar {
  return (program) => {
    const prompts = program.command('prompts').description('list prompts and get their messages');
    withServerOptions(prompts.command('ls', { isDefault: true }))
      .description('list prompts (default)')
      .addHelpText('after', '\nExample:\n  $ patchboard prompts ls')
      .action((flags: ServerOptions) => list(context, flags));
    withServerOptions(prompts.command('get'))
      .description('print the messages of a prompt; nothing is recorded')
      .argument('<prompt>', 'name of the prompt')
      .argument('[arguments...]', 'key=value')
      .addHelpText('after', '\nExample:\n  $ patchboard prompts get tools_as_text budget=2000')
      .action((name: string, pairs: readonly string[], flags: ServerOptions) =>
        get(context, name, pairs, flags),
      );
  };
}

async function list(context: CliContext, flags: ServerOptions): Promise<void> {
  const { output } = context;
  const prompts: PromptSummaryView[] = [];
  for await (const prompt of (await connect(context, flags)).resources.prompts()) prompts.push(prompt);
  if (flags.json === true) return output.json({ prompts });
  if (prompts.length === 0) return output.note('no prompts');
  output.table(
    [{ title: 'NAME' }, { title: 'ARGUMENTS' }, { title: 'DESCRIPTION', flexible: true }],
    prompts.map((prompt) => [cell(prompt.name), cell(argumentsOf(prompt)), cell(prompt.description ?? '')]),
  );
}

/** Optional arguments are in brackets. */
function argumentsOf(prompt: PromptSummaryView): string {
  return prompt.arguments.map(({ name, required }) => (required ? name : `[${name}]`)).join(' ');
}

async function get(
  context: CliContext,
  name: string,
  pairs: readonly string[],
  flags: ServerOptions,
): Promise<void> {
  const { output } = context;
  const args = Object.fromEntries(pairs.map(parsePair).map(({ key, text }) => [key, text]));
  const prompt = await (await connect(context, flags)).resources.prompt(name, args);
  if (flags.json === true) return output.json(prompt);
  const isDialog = prompt.messages.length > 1;
  for (const message of prompt.messages) {
    if (isDialog) output.data(`${output.paint('bold', message.role)}:`);
    output.data(textOf(message, context.isTerminal));
  }
}

/** In a pipe the text is not changed; on a terminal control characters are escaped. */
function textOf({ content }: PromptMessageView, isTerminal: boolean): string {
  if (content.type !== 'text') return printableJson(content);
  return isTerminal ? printable(content.text) : content.text;
}
