import { callCommand } from './commands/call.ts';
import { callsCommand } from './commands/calls.ts';
import { approveCommand, denyCommand } from './commands/decide.ts';
import { grantsCommand } from './commands/grants.ts';
import { inboxCommand } from './commands/inbox.ts';
import { keysCommand } from './commands/keys.ts';
import { ledgerCommand } from './commands/ledger.ts';
import { policyCommand } from './commands/policy.ts';
import { toolsCommand } from './commands/tools.ts';
import { environment } from './config.ts';
import { processContext } from './context.ts';
import { registerDoctor } from './doctor.ts';
import { createProgram, runProgram, type ProgramStreams } from './program.ts';
import { registerServe } from './serve.ts';
import { VERSION } from '../version.ts';

const streams: ProgramStreams = {
  out: (text) => void process.stdout.write(text),
  error: (text) => void process.stderr.write(text),
};

// `patchboard calls tail | head` closes the pipe when it has seen enough; that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

const context = processContext(environment());
const program = createProgram(
  [
    registerServe,
    callCommand(context),
    toolsCommand(context),
    callsCommand(context),
    approveCommand(context),
    denyCommand(context),
    inboxCommand(context),
    grantsCommand(context),
    keysCommand(context),
    policyCommand(context),
    ledgerCommand(context),
    registerDoctor,
  ],
  VERSION,
  streams,
);
const code = await runProgram(program, process.argv.slice(2), streams);
if (code !== null) process.exitCode = code;
