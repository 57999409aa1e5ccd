import type { Command } from 'commander';
import { messageOf } from '../../core/failures.ts';
import type { CliContext } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import { readInput } from '../read-input.ts';
import { cell } from '../output.ts';
import { whenConnected } from '../upstreams/add-upstream.ts';
import { changeUpstreams, without } from '../upstreams/change-upstreams.ts';
import { parseCommentedJson } from '../upstreams/commented-json.ts';
import { planImport, type ImportPlan } from '../upstreams/import-servers.ts';
import { namesInUse } from '../upstreams/name-in-use.ts';
import { dataFolderOf, withFolderOptions, type FolderOptions } from '../upstreams/upstream-target.ts';

interface ImportFlags extends FolderOptions {
  readonly dryRun?: boolean;
  readonly env?: boolean;
}

const HELP = `
Reads mcpServers of Claude Desktop, Claude Code, Cursor and others, and servers
of VS Code; comments are allowed. Names are changed to a-z, 0-9, _ and -. What
cannot be imported is listed with the reason.

Secrets are stored in upstreams.json of the data folder, as they are in the
file. With --env, values of headers, variables and flags whose names are those
of secrets become \${NAME}, and the variables to set for the server are listed.

Examples:
  $ patchboard mcp import ~/.cursor/mcp.json --dry-run
  $ patchboard mcp import claude_desktop_config.json --env`;

export function registerImport(mcp: Command, context: CliContext): void {
  withFolderOptions(mcp.command('import'))
    .description('add the MCP servers of the configuration of another program')
    .argument('<file>', 'file of an MCP client, - for standard input')
    .option('--dry-run', 'only show what would be added')
    .option('--env', 'take secrets from environment variables of the server')
    .addHelpText('after', HELP)
    .action((file: string, flags: ImportFlags) => importServers(context, file, flags));
}

async function importServers(context: CliContext, file: string, flags: ImportFlags): Promise<void> {
  const { output } = context;
  const dataFolder = dataFolderOf(context, flags);
  const value = await readJson(context, file);
  const plan = planImport(value, {
    asVariables: flags.env === true,
    taken: namesInUse(context, dataFolder),
  });
  if (plan === null)
    throw new UsageError(
      `${file} has neither mcpServers nor servers: it is no configuration of an MCP client`,
    );
  const { servers, skipped } = plan;
  for (const { from, reason } of skipped) output.note(`not imported: ${from}: ${reason}`);
  for (const { from, ignored } of servers)
    if (ignored.length > 0) output.note(`${from}: ignored ${ignored.join(', ')}`);
  if (servers.length === 0) throw new UsageError(`nothing was imported from ${file}`);
  const isDry = flags.dryRun === true;
  const changed = isDry ? null : await store(context, dataFolder, plan);
  if (flags.json === true)
    output.json({
      imported: servers.map(({ from, name, ignored }) => ({ from, name, ignored })),
      skipped,
      variables: plan.variables,
      file: changed?.file ?? null,
      server: changed?.url ?? null,
    });
  else
    output.table(
      [{ title: 'NAME' }, { title: 'FROM', flexible: true }, { title: 'ADDRESS', flexible: true }],
      servers.map(({ name, from, config: { url, command = '' } }) => [
        name,
        cell(from),
        cell(url === undefined ? command : (url.split(/[?#]/)[0] ?? '')),
      ]),
    );
  if (plan.variables.length > 0)
    output.note(`Set these variables for the server before it starts: ${plan.variables.join(', ')}`);
  if (changed === null) output.note('nothing was changed (--dry-run)');
  else output.note(`${servers.length} added to ${changed.file}. ${whenConnected(changed)}`);
}

async function store(context: CliContext, dataFolder: string, { servers, variables }: ImportPlan) {
  const added = Object.fromEntries(servers.map(({ name, config }) => [name, config]));
  return await changeUpstreams(context, dataFolder, {
    apply: (config) => ({ ...config, upstreams: { ...config.upstreams, ...added } }),
    // With variables to set, the server accepts the settings only after a restart.
    undo: variables.length > 0 ? null : (config) => without(config, Object.keys(added)),
  });
}

async function readJson({ sources }: CliContext, file: string): Promise<unknown> {
  const text = await readInput(sources, file);
  try {
    return parseCommentedJson(text);
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${withoutText(messageOf(error))}`);
  }
}

/** Newer messages of `JSON.parse` quote the text, which may be a secret. */
function withoutText(message: string): string {
  return /(?:in JSON )?at position \d+.*$/s.exec(message)?.[0] ?? 'it ends too early';
}
