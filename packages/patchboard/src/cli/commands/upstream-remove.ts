import type { UpstreamKind } from '@patchboard/wire';
import type { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { changeUpstreams, without } from '../upstreams/change-upstreams.ts';
import { throwIfNotAdded } from '../upstreams/name-in-use.ts';
import { dataFolderOf, withFolderOptions, type FolderOptions } from '../upstreams/upstream-target.ts';

export function registerRemove(group: Command, context: CliContext, kind: UpstreamKind): void {
  withFolderOptions(group.command('remove'))
    .description(
      kind === 'mcp' ? 'remove one that mcp add or import added' : 'remove one that openapi add added',
    )
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
  const { file, url, reloaded } = await changeUpstreams(context, dataFolder, {
    apply: (config) => without(config, [name]),
    // If the server refuses the settings, that is because of another upstream, which must not prevent the removal of this one.
    undo: null,
  });
  if (flags.json === true) return output.json({ name, kind, file, server: url });
  output.data(`${name} removed`);
  if (url === null) return;
  output.note(
    reloaded === null
      ? `The server at ${url} offers its tools until it is restarted or accepts the settings.`
      : `The server at ${url} no longer offers its tools.`,
  );
}
