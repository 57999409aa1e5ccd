import type { UpstreamKind } from '@patchboard/wire';
import type { Command } from 'commander';
import { readUpstreamFile } from '../../settings/upstream-file.ts';
import type { CliContext } from '../context.ts';
import { changeUpstreams, without } from '../upstreams/change-upstreams.ts';
import { throwIfNotAdded } from '../upstreams/name-in-use.ts';
import { dataFolderOf, withFolderOptions, type FolderOptions } from '../upstreams/upstream-target.ts';

export function registerRemove(group: Command, context: CliContext, kind: UpstreamKind): void {
  withFolderOptions(group.command('remove'))
    .description(`remove one that ${kind} add or import added`)
    .argument('<name>', `name, as ${kind} list shows it`)
    .addHelpText(
      'after',
      `\nCalls that run on it end as disconnected. Those of a config file are removed\nthere.\n\nExample:\n  $ patchboard ${kind} remove NAME`,
    )
    .action((name: string, flags: FolderOptions) => remove(context, kind, name, flags));
}

async function remove(
  context: CliContext,
  kind: UpstreamKind,
  name: string,
  flags: FolderOptions,
): Promise<void> {
  const { output } = context;
  const dataFolder = dataFolderOf(context, flags);
  throwIfNotAdded(context, dataFolder, { kind, name });
  const { upstreams, openapi } = readUpstreamFile(dataFolder).value;
  const mcpBefore = upstreams?.[name];
  const openApiBefore = openapi?.[name];
  const { file, url } = await changeUpstreams(context, dataFolder, {
    apply: (config) => without(config, [name]),
    undo: (config) => ({
      upstreams: { ...config.upstreams, ...(mcpBefore === undefined ? {} : { [name]: mcpBefore }) },
      openapi: { ...config.openapi, ...(openApiBefore === undefined ? {} : { [name]: openApiBefore }) },
    }),
  });
  if (flags.json === true) return output.json({ name, kind, file, server: url });
  output.data(`${name} removed`);
  if (url !== null) output.note(`The server at ${url} no longer offers its tools.`);
}
