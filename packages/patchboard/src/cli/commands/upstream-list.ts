import type { UpstreamKind, UpstreamView } from '@patchboard/wire';
import type { Command } from 'commander';
import { readUpstreamFile } from '../../settings/upstream-file.ts';
import type { UpstreamsConfig } from '../../settings/upstream-config.ts';
import type { CliContext } from '../context.ts';
import { cell } from '../output.ts';
import { configIn } from '../store-location.ts';
import {
  atTarget,
  dataFolderOf,
  targetUrl,
  withTargetOptions,
  type TargetOptions,
} from '../upstreams/upstream-target.ts';

export function registerList(group: Command, context: CliContext, kind: UpstreamKind): void {
  const what = kind === 'mcp' ? 'MCP servers' : 'HTTP APIs';
  withTargetOptions(group.command('list'))
    .description(`list the ${what} with their state`)
    .addHelpText(
      'after',
      `\nWithout a running server it lists the ${what} of the data folder and of\nPATCHBOARD_CONFIG.\n\nExample:\n  $ patchboard ${kind} list`,
    )
    .action((flags: TargetOptions) => list(context, kind, flags));
}

async function list(context: CliContext, kind: UpstreamKind, flags: TargetOptions): Promise<void> {
  if ((await targetUrl(context, flags)) === null) return listConfigured(context, kind, flags);
  const { output } = context;
  const all = await atTarget(context, flags, (client) => client.upstreams());
  const upstreams = all.filter((upstream) => upstream.kind === kind);
  if (flags.json === true) return output.json({ upstreams });
  if (upstreams.length === 0) return output.note(NONE[kind]);
  output.table(
    [
      { title: 'NAME' },
      { title: 'STATE' },
      { title: 'PROTOCOL' },
      { title: 'TOOLS' },
      { title: 'CHANGES' },
      { title: 'ADDRESS', flexible: true },
    ],
    upstreams.map((upstream) => rowOf(upstream)),
  );
  // Below the table: in a column of 80 an error would be cut.
  for (const { name, last_error: lastError } of upstreams)
    if (lastError !== null) output.note(`${name}: ${lastError.message}`);
  const changed = upstreams.filter((upstream) => changesOf(upstream) > 0).map(({ name }) => name);
  for (const name of changed) output.note(`review the changes with: patchboard ${kind} accept ${name}`);
}

const NONE: Readonly<Record<UpstreamKind, string>> = {
  mcp: 'no MCP servers; add one with: patchboard mcp add NAME URL',
  openapi: 'no HTTP APIs; add one with: patchboard openapi add NAME FILE-OR-URL',
};

function rowOf(upstream: UpstreamView): string[] {
  const { name, state, protocol, tools, rejected, address } = upstream;
  return [
    cell(name),
    cell(state),
    cell(protocol ?? ''),
    rejected.length === 0 ? String(tools.length) : `${tools.length}, ${rejected.length} rejected`,
    String(changesOf(upstream)),
    cell(address),
  ];
}

function changesOf({ tools }: UpstreamView): number {
  return tools.filter(({ change }) => change !== undefined).length;
}

function listConfigured(context: CliContext, kind: UpstreamKind, flags: TargetOptions): void {
  const { output } = context;
  const dataFolder = dataFolderOf(context, flags);
  const sources = [configIn(context.environment, dataFolder), readUpstreamFile(dataFolder)];
  const configured = sources.flatMap((source) =>
    source === null
      ? []
      : addressesIn(source.value, kind).map(([name, address]) => ({ name, address, file: source.file })),
  );
  if (flags.json === true) return output.json({ upstreams: configured.map((one) => ({ ...one, kind })) });
  output.note('no server runs on this data folder, so there is no state');
  if (configured.length === 0) return output.note(NONE[kind]);
  output.table(
    [{ title: 'NAME' }, { title: 'ADDRESS', flexible: true }, { title: 'DEFINED IN', flexible: true }],
    configured.map(({ name, address, file }) => [cell(name), cell(address), cell(file)]),
  );
}

/** Without queries and arguments, which may hold secrets. */
function addressesIn(
  { upstreams = {}, openapi = {} }: UpstreamsConfig,
  kind: UpstreamKind,
): [string, string][] {
  const withoutQuery = (url: string): string => url.split(/[?#]/)[0] ?? '';
  if (kind === 'openapi')
    return Object.entries(openapi).map(([name, one]) => [name, withoutQuery(one.server ?? one.description)]);
  return Object.entries(upstreams).map(([name, { url, command = '' }]) => [
    name,
    url === undefined ? command : withoutQuery(url),
  ]);
}
