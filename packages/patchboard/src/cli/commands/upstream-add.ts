import { resolve } from 'node:path';
import { Option, type Command } from 'commander';
import type { McpUpstreamConfig, OpenApiConfig, SecurityConfig } from '../../settings/upstream-config.ts';
import type { CliContext } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import { addText } from '../flag-values.ts';
import { addUpstream } from '../upstreams/add-upstream.ts';
import {
  addVariable,
  commonConfig,
  VARIABLES,
  withAddOptions,
  type AddFlags,
} from '../upstreams/upstream-flags.ts';

interface McpAddFlags extends AddFlags {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly protocol?: 'auto' | 'legacy' | '2026-07-28';
  readonly hints?: 'believe' | 'ignore';
  readonly inputRequests: boolean;
  readonly sampling?: boolean;
  readonly sandbox?: boolean;
  readonly network?: boolean;
  readonly readable?: readonly string[];
}

interface OpenApiAddFlags extends AddFlags {
  readonly server?: string;
  readonly security?: Readonly<Record<string, string>>;
}

export function registerMcpAdd(mcp: Command, context: CliContext): void {
  withAddOptions(mcp.command('add'))
    .description('add an MCP server: its tools become tools of this server')
    .usage('[options] <name> <url>\n       patchboard mcp add [options] <name> -- <command> [arguments…]')
    .argument('<name>', 'prefix of its tools: a-z, 0-9, _ and -')
    .argument('<target...>', 'URL of the server, or the command that starts it')
    .option('--env <variable>', 'NAME=VALUE for the command, repeatable', addVariable)
    .option('--cwd <folder>', 'working directory of the command')
    .addOption(
      new Option('--protocol <version>', 'version of MCP (default auto)').choices([
        'auto',
        'legacy',
        '2026-07-28',
      ]),
    )
    .addOption(
      new Option(
        '--hints <use>',
        'whether to use its hints readonly and idempotent (default believe)',
      ).choices(['believe', 'ignore']),
    )
    .option('--no-input-requests', 'its tools may not ask the caller for input')
    .option('--sampling', "its tools may request messages of the caller's model")
    .option('--sandbox', 'run the command in a sandbox, without network')
    .option('--network', 'the same, with network')
    .option('--readable <path>', 'file or folder that it may read there, repeatable', addText)
    .addHelpText(
      'after',
      `${VARIABLES} OAuth is configured in the config file.\n\nExamples:\n` +
        "  $ patchboard mcp add github https://mcp.example.com/mcp \\\n      --header 'Authorization: Bearer ${GITHUB_TOKEN}'\n" +
        '  $ patchboard mcp add files -- npx -y @modelcontextprotocol/server-filesystem .',
    )
    .action((name: string, target: readonly string[], flags: McpAddFlags) =>
      addUpstream(context, { kind: 'mcp', name, config: mcpConfig(target, flags) }, flags),
    );
}

export function registerOpenApiAdd(openapi: Command, context: CliContext): void {
  withAddOptions(openapi.command('add'))
    .description('add an HTTP API: each operation of its description becomes a tool')
    .argument('<name>', 'prefix of its tools: a-z, 0-9, _ and -')
    .argument('<description>', 'OpenAPI 3.0 or 3.1: a file or an http URL')
    .option('--server <url>', 'base URL of requests (default: that of the description)')
    .option(
      '--security <scheme>',
      'SCHEME=VARIABLE, or SCHEME=USER_VARIABLE:PASSWORD_VARIABLE, repeatable',
      addVariable,
    )
    .addHelpText(
      'after',
      `${VARIABLES}\n\nExample:\n  $ patchboard openapi add shop ./shop.yaml --security apiKey=SHOP_KEY`,
    )
    .action((name: string, description: string, flags: OpenApiAddFlags) =>
      addUpstream(context, { kind: 'openapi', name, config: openApiConfig(description, flags) }, flags),
    );
}

const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

function mcpConfig(target: readonly string[], flags: McpAddFlags): McpUpstreamConfig {
  const [first = '', ...rest] = target;
  return {
    ...(HAS_SCHEME.test(first) ? httpConfig(first, rest, flags) : stdioConfig(first, rest, flags)),
    ...commonConfig(flags),
    ...(flags.protocol === undefined ? {} : { protocol: flags.protocol }),
    ...(flags.hints === undefined ? {} : { hints: flags.hints }),
    ...(flags.inputRequests ? {} : { input_requests: false }),
    ...(flags.sampling === true ? { sampling: true } : {}),
  };
}

function httpConfig(url: string, rest: readonly string[], flags: McpAddFlags): McpUpstreamConfig {
  if (rest.length > 0)
    throw new UsageError(`only one URL is expected; the arguments after it are: ${rest.join(' ')}`);
  const { env, cwd, sandbox, network, readable } = flags;
  const given = Object.entries({ env, cwd, sandbox, network, readable }).find(
    ([, value]) => value !== undefined,
  );
  if (given !== undefined) throw new UsageError(`--${given[0]} is for commands, and this is a URL`);
  return { url };
}

/** Paths are stored absolute: the server may be started in another folder. */
function stdioConfig(command: string, args: readonly string[], flags: McpAddFlags): McpUpstreamConfig {
  if (flags.header !== undefined) throw new UsageError('--header is for URLs, and this is a command');
  const { env, cwd, sandbox, network, readable } = flags;
  const isSandboxed = (sandbox ?? network ?? readable) !== undefined;
  return {
    command: /[/\\]/.test(command) ? resolve(command) : command,
    ...(args.length === 0 ? {} : { args }),
    ...(env === undefined ? {} : { env }),
    // In a sandbox the command may change its working directory: it gets a folder of its own unless one is given.
    ...(isSandboxed && cwd === undefined ? {} : { cwd: resolve(cwd ?? '.') }),
    ...(isSandboxed
      ? {
          sandbox: {
            network: network ?? false,
            ...(readable === undefined ? {} : { readable: readable.map((path) => resolve(path)) }),
          },
        }
      : {}),
  };
}

function openApiConfig(description: string, flags: OpenApiAddFlags): OpenApiConfig {
  const security = Object.entries(flags.security ?? {}).map(
    ([scheme, variable]): [string, SecurityConfig] => [scheme, securityConfig(variable)],
  );
  return {
    description: HAS_SCHEME.test(description) ? description : resolve(description),
    ...(flags.server === undefined ? {} : { server: flags.server }),
    ...(security.length === 0 ? {} : { security: Object.fromEntries(security) }),
    ...commonConfig(flags),
  };
}

/** Names of variables only: a secret on a command line is visible to other users. */
function securityConfig(variable: string): SecurityConfig {
  const [first = '', second] = variable.split(':');
  for (const name of second === undefined ? [first] : [first, second])
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new UsageError(
        '--security needs the name of a variable: SCHEME=VARIABLE, such as apiKey=SHOP_KEY',
      );
  return second === undefined ? { value_env: first } : { username_env: first, password_env: second };
}
