import type { ResourceContentView, ResourceTemplateView, ResourceView } from '@patchboard/wire';
import { connect, withServerOptions, type CliContext, type ServerOptions } from '../context.ts';
import { cell } from '../output.ts';
import type { Registrar } from '../program.ts';
import { printable } from '../terminal-text.ts';

export function resourcesCommand(context: CliContext): Registrar {
  return (program) => {
    const resources = program.command('resources').description('list and read resources');
    withServerOptions(resources.command('ls', { isDefault: true }))
      .description('list resources and resource templates (default)')
      .addHelpText('after', '\nExample:\n  $ patchboard resources ls')
      .action((flags: ServerOptions) => list(context, flags));
    withServerOptions(resources.command('read'))
      .description('print the contents of a resource; nothing is recorded')
      .argument('<uri>', 'URI of a resource, or a template with its variables filled in')
      .addHelpText(
        'after',
        '\nBytes are printed as base64.\n\nExample:\n  $ patchboard resources read patchboard://tools/weather.query',
      )
      .action((uri: string, flags: ServerOptions) => read(context, uri, flags));
  };
}

async function list(context: CliContext, flags: ServerOptions): Promise<void> {
  const { output } = context;
  const client = await connect(context, flags);
  const resources: ResourceView[] = [];
  const templates: ResourceTemplateView[] = [];
  for await (const resource of client.resources.list()) resources.push(resource);
  for await (const template of client.resources.templates()) templates.push(template);
  if (flags.json === true) return output.json({ resources, resource_templates: templates });
  if (resources.length + templates.length === 0) return output.note('no resources');
  const about = ({ title, name, description }: ResourceView | ResourceTemplateView): string =>
    cell(description ?? title ?? name);
  output.table(
    [{ title: 'URI' }, { title: 'TYPE' }, { title: 'DESCRIPTION', flexible: true }],
    [
      ...resources.map((one) => [cell(one.uri), cell(one.mime_type ?? ''), about(one)]),
      ...templates.map((one) => [cell(one.uri_template), cell(one.mime_type ?? ''), about(one)]),
    ],
  );
}

async function read(context: CliContext, uri: string, flags: ServerOptions): Promise<void> {
  const { output } = context;
  const contents = await (await connect(context, flags)).resources.read(uri);
  if (flags.json === true) return output.json({ contents });
  for (const content of contents) output.data(textOf(content, context.isTerminal));
}

/** In a pipe the text is not changed; on a terminal control characters are escaped. */
function textOf({ text, blob }: ResourceContentView, isTerminal: boolean): string {
  if (text === undefined) return blob ?? '';
  return isTerminal ? printable(text) : text;
}
