import type { CliContext } from './context.ts';
import { selectInOutput } from './json-options.ts';
import type { Registrar } from './program.ts';

/** Every command, in the order of the help. */
const COMMANDS: Readonly<Record<string, (context: CliContext) => Promise<Registrar>>> = {
  serve: async () => (await import('./commands/serve.ts')).registerServe,
  call: async (context) => (await import('./commands/call.ts')).callCommand(context),
  tools: async (context) => (await import('./commands/tools.ts')).toolsCommand(context),
  calls: async (context) => (await import('./commands/calls.ts')).callsCommand(context),
  runs: async (context) => (await import('./commands/runs.ts')).runsCommand(context),
  metrics: async (context) => (await import('./commands/metrics.ts')).metricsCommand(context),
  resources: async (context) => (await import('./commands/resources.ts')).resourcesCommand(context),
  prompts: async (context) => (await import('./commands/prompts.ts')).promptsCommand(context),
  device: async (context) => (await import('./commands/device.ts')).deviceCommand(context),
  mcp: async (context) => (await import('./commands/mcp.ts')).mcpCommand(context),
  openapi: async (context) => (await import('./commands/openapi.ts')).openApiCommand(context),
  approve: async (context) => (await import('./commands/decide.ts')).approveCommand(context),
  deny: async (context) => (await import('./commands/decide.ts')).denyCommand(context),
  inbox: async (context) => (await import('./commands/inbox.ts')).inboxCommand(context),
  input: async (context) => (await import('./commands/input.ts')).inputCommand(context),
  profile: async (context) => (await import('./commands/profile.ts')).profileCommand(context),
  open: async (context) => (await import('./commands/open.ts')).openCommand(context),
  login: async (context) => (await import('./commands/login.ts')).loginCommand(context),
  grants: async (context) => (await import('./commands/grants.ts')).grantsCommand(context),
  keys: async (context) => (await import('./commands/keys.ts')).keysCommand(context),
  tenants: async (context) => (await import('./commands/tenants.ts')).tenantsCommand(context),
  nodes: async (context) => (await import('./commands/nodes.ts')).nodesCommand(context),
  policy: async (context) => (await import('./commands/policy.ts')).policyCommand(context),
  parse: async (context) => (await import('./commands/parse.ts')).parseCommand(context),
  ledger: async (context) => (await import('./commands/ledger.ts')).ledgerCommand(context),
  backup: async (context) => (await import('./commands/backup.ts')).backupCommand(context),
  data: async (context) => (await import('./commands/data.ts')).dataCommand(context),
  completion: async (context) => (await import('./commands/completion.ts')).completionCommand(context),
  doctor: async (context) => (await import('./commands/doctor.ts')).doctorCommand(context),
};

/**
 * Loads the command that the arguments begin with; all of them if that is no command, for the help and for suggestions.
 * Loading all takes longer than most commands.
 */
export async function commands(
  context: CliContext,
  [name = '']: readonly string[] = [],
): Promise<readonly Registrar[]> {
  const named = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const wanted = named === undefined ? Object.values(COMMANDS) : [named];
  return [selectInOutput(context), ...(await Promise.all(wanted.map((load) => load(context))))];
}
