import type { CliContext } from '../context.ts';
import type { Registrar } from '../program.ts';
import { registerMcpConfig } from './mcp-config.ts';
import { registerImport } from './mcp-import.ts';
import { registerAccept } from './upstream-accept.ts';
import { registerMcpAdd } from './upstream-add.ts';
import { registerList } from './upstream-list.ts';
import { registerRemove } from './upstream-remove.ts';
import { registerRestart } from './upstream-restart.ts';

interface BridgeFlags {
  readonly url?: string;
  readonly tools?: string;
  readonly hold?: string;
}

const HELP = `
For programs that start their MCP servers themselves. Messages are forwarded to
/mcp of a server: the one at --url or PATCHBOARD_URL, else the one that runs on
the data folder (PATCHBOARD_DATA, default ./.patchboard), else the one at
http://127.0.0.1:8080. If none is named and none responds, the command starts a
server on the data folder, which ends with it.

The credential is PATCHBOARD_KEY, the key of an agent. In local mode none is
needed. The operator token is never used: an operator cannot approve calls that
were made as operator.

Stdout carries the protocol only. The command runs on Node 18 or newer; to start
a server it needs Node 24. When stdin ends, it gives open requests two seconds
from when the server is up, ends its session, and exits with 0, or with 1 if no
server responded.

Examples:
  $ patchboard mcp config --client claude-desktop
  $ patchboard mcp --tools 'weather.*,calculation.*'
  $ patchboard mcp add github https://mcp.example.com/mcp`;

export function mcpCommand(context: CliContext): Registrar {
  return (program) => {
    // So that `--` reaches `mcp add`, and options after a command are its own.
    program.enablePositionalOptions();
    const mcp = program
      .command('mcp')
      .enablePositionalOptions()
      .description('serve MCP over stdin and stdout, or manage upstream MCP servers')
      .option('--url <url>', 'URL of the server (PATCHBOARD_URL)')
      .option('--tools <list>', 'offer only these tools, such as weather.*,github.* (PATCHBOARD_MCP_TOOLS)')
      .option('--hold <seconds>', 'how long a call may take before the client gets a receipt')
      .addHelpText('after', HELP)
      .action(runBridge);
    registerMcpConfig(mcp, context);
    registerMcpAdd(mcp, context);
    registerList(mcp, context, 'mcp');
    registerRemove(mcp, context, 'mcp');
    registerImport(mcp, context);
    registerAccept(mcp, context, 'mcp');
    registerRestart(mcp, context, 'mcp');
  };
}

/** Runs the file that `bin/patchboard.mjs` runs directly, also on an older Node. */
async function runBridge(flags: BridgeFlags): Promise<void> {
  const file = new URL('../../../bin/patchboard-mcp.mjs', import.meta.url).href;
  const { main } = (await import(file)) as { main: (argv: readonly string[]) => Promise<void> };
  await main(Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]));
}
