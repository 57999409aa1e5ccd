import { fileURLToPath } from 'node:url';
import { PatchboardError } from '@patchboard/client';
import { MCP_CLIENTS, mcpClientConfig, type McpClientName, type McpConnection } from '@patchboard/wire';
import { Option, type Command } from 'commander';
import type { Scope } from '../../core/access/scopes.ts';
import { connectionOf } from '../connection.ts';
import type { CliContext } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import { withKeyBackend } from '../key-backend.ts';
import { isLocalMode, LOCAL_MODE_ENDS } from '../local-mode.ts';
import { withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import { throwIfInvalidId } from '../invalid-id.ts';

interface ConfigFlags extends OperatorOptions {
  readonly client: McpClientName;
  readonly http?: boolean;
  readonly key?: string;
  readonly tools?: string;
  readonly hold?: string;
}

const LAUNCHER = fileURLToPath(new URL('../../../bin/patchboard.mjs', import.meta.url));
const KEY_SCOPES: readonly Scope[] = ['tools:call', 'calls:read'];
const PLACEHOLDER = 'YOUR_KEY';

const HELP = `
Stdout has what to paste, stderr where to. Without --http the client starts
patchboard mcp of this installation. With --url or PATCHBOARD_URL that uses the
given server; otherwise it finds the server of the data folder, or starts one.

--key creates the key of an agent with the scopes tools:call and calls:read,
which needs the operator token or an operator's key. Without that credential the
output has ${PLACEHOLDER} in its place. In local mode no key is needed, and the first
key ends local mode.

Examples:
  $ patchboard mcp config --client claude-desktop
  $ patchboard mcp config --client cursor --http --key cursor
  $ patchboard mcp config --client vscode > .vscode/mcp.json`;

export function registerMcpConfig(mcp: Command, context: CliContext): void {
  withOperatorOptions(mcp.command('config'))
    .description('print the configuration of an MCP client')
    .addOption(new Option('--client <client>', 'program').choices(MCP_CLIENTS).makeOptionMandatory(true))
    .option('--http', 'connect over HTTP instead of starting patchboard mcp')
    .option('--key <name>', 'create a key for the agent of this name')
    .option('--tools <list>', 'offer only these tools, such as weather.*,github.*')
    .option('--hold <seconds>', 'how long a call may take before the client gets a receipt')
    .addHelpText('after', HELP)
    // Commander gives options that `mcp` has too to `mcp`.
    .action((_flags: unknown, command: Command) => config(context, command.optsWithGlobals<ConfigFlags>()));
}

async function config(context: CliContext, flags: ConfigFlags): Promise<void> {
  const { output, environment } = context;
  if (flags.key !== undefined) throwIfInvalidId('--key', flags.key);
  if (flags.hold !== undefined && !/^[1-9]\d*$/.test(flags.hold))
    throw new UsageError(`--hold must be a whole number of seconds, not "${flags.hold}"`);
  const { url, isNamed, dataFolder } = await connectionOf(environment, flags);
  const named = isNamed ? url : null;
  if (!URL.canParse(url)) throw new UsageError(`"${url}" is not a URL`);
  // Before a key is created, which nothing would use.
  const connectionWith = (key: string | null): McpConnection =>
    flags.http === true ? overHttp(url, key, flags) : overStdio({ named, dataFolder, key }, flags);
  if (mcpClientConfig(flags.client, connectionWith(null)) === null)
    throw new UsageError(`${flags.client} has no servers over HTTP in its configuration: omit --http`);
  const key = await keyFor(context, { ...flags, url });
  const written = mcpClientConfig(flags.client, connectionWith(key));
  if (flags.json === true) return output.json({ client: flags.client, ...written });
  output.data(written?.text ?? '');
  output.note(`Add this to ${written?.file}.`);
  if (written?.command !== undefined) output.note(`Or run: ${written.command}`);
}

function overStdio(
  found: { readonly named: string | null; readonly dataFolder: string; readonly key: string | null },
  { tools, hold }: ConfigFlags,
): McpConnection {
  const { named, dataFolder, key } = found;
  const args = [LAUNCHER, 'mcp'];
  if (tools !== undefined) args.push('--tools', tools);
  if (hold !== undefined) args.push('--hold', hold);
  const server = named === null ? { PATCHBOARD_DATA: dataFolder } : { PATCHBOARD_URL: named };
  const env = { ...server, ...(key === null ? {} : { PATCHBOARD_KEY: key }) };
  return { kind: 'stdio', command: process.execPath, args, env };
}

function overHttp(base: string, key: string | null, { tools, hold }: ConfigFlags): McpConnection {
  const url = new URL(`${base.replace(/\/+$/, '')}/mcp`);
  if (tools !== undefined) url.searchParams.set('tools', tools);
  if (hold !== undefined) url.searchParams.set('hold', hold);
  const headers = key === null ? {} : { headers: { Authorization: `Bearer ${key}` } };
  return { kind: 'http', url: url.href, ...headers };
}

/** Creates the key, or returns a placeholder and prints how to get one. Resolves to null if no key is wanted. */
async function keyFor(context: CliContext, flags: ConfigFlags & { url: string }): Promise<string | null> {
  const { output } = context;
  if (flags.key === undefined) {
    if ((await isLocalMode(flags.url)) === false)
      output.note(`${flags.url} requires a key: add --key NAME, or set PATCHBOARD_KEY in the configuration.`);
    return null;
  }
  const wanted = { kind: 'agent', name: flags.key, scopes: KEY_SCOPES, expiresAt: null } as const;
  try {
    return await withKeyBackend(context, flags, true, async (backend) => {
      const { key, endsLocalMode } = await backend.create(wanted);
      output.note(`${key.key_id}: agent ${key.name}, ${key.scopes.join(' ')}, until it is revoked`);
      if (endsLocalMode) output.note(LOCAL_MODE_ENDS);
      return key.key;
    });
  } catch (error) {
    if (!(error instanceof PatchboardError)) throw error;
    const scopes = KEY_SCOPES.map((scope) => `--scope ${scope}`).join(' ');
    output.note(
      `No key was created: ${error.detail}. Replace ${PLACEHOLDER} with the output of, run by an operator of ${flags.url}:\n` +
        `  patchboard keys create --kind agent --name ${flags.key} ${scopes}`,
    );
    return PLACEHOLDER;
  }
}
