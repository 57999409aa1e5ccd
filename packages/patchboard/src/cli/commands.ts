import { callCommand } from './commands/call.ts';
import { callsCommand } from './commands/calls.ts';
import { dataCommand } from './commands/data.ts';
import { deviceCommand } from './commands/device.ts';
import { approveCommand, denyCommand } from './commands/decide.ts';
import { registerDoctor } from './commands/doctor.ts';
import { grantsCommand } from './commands/grants.ts';
import { inputCommand } from './commands/input.ts';
import { inboxCommand } from './commands/inbox.ts';
import { keysCommand } from './commands/keys.ts';
import { ledgerCommand } from './commands/ledger.ts';
import { loginCommand } from './commands/login.ts';
import { mcpCommand } from './commands/mcp.ts';
import { parseCommand } from './commands/parse.ts';
import { policyCommand } from './commands/policy.ts';
import { promptsCommand } from './commands/prompts.ts';
import { resourcesCommand } from './commands/resources.ts';
import { registerServe } from './commands/serve.ts';
import { tenantsCommand } from './commands/tenants.ts';
import { toolsCommand } from './commands/tools.ts';
import type { CliContext } from './context.ts';
import type { Registrar } from './program.ts';

/** Returns all commands, in the order of the help. */
export function commands(context: CliContext): readonly Registrar[] {
  return [
    registerServe,
    callCommand(context),
    toolsCommand(context),
    callsCommand(context),
    resourcesCommand(context),
    promptsCommand(context),
    deviceCommand(context),
    mcpCommand(context),
    approveCommand(context),
    denyCommand(context),
    inboxCommand(context),
    inputCommand(context),
    loginCommand(context),
    grantsCommand(context),
    keysCommand(context),
    tenantsCommand(context),
    policyCommand(context),
    parseCommand(context),
    ledgerCommand(context),
    dataCommand(context),
    registerDoctor,
  ];
}
