import type { PatchboardClient } from '@patchboard/client';
import type { ApprovalRequestView } from '@patchboard/wire';
import { editorCommand } from '../../settings/environment.ts';
import { EXIT_BY_SIGNAL } from '../clean-on-signal.ts';
import type { CliContext } from '../context.ts';
import { createdSince, SINCE } from '../duration.ts';
import { editText } from '../inbox/editor.ts';
import { runInbox } from '../inbox/run.ts';
import { processTerminal } from '../inbox/terminal.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import type { Registrar } from '../program.ts';
import { listWaiting } from './decide.ts';

const HELP = `
Keys: J and K or arrows move, A approves, D denies and asks for a reason, E
edits the arguments in $VISUAL or $EDITOR and shows the changes before it
approves, Space and B scroll, R refreshes, Q quits. Without a terminal, and with
--json or --since, the command prints the waiting calls once.

Example:
  $ patchboard inbox`;

interface InboxFlags extends OperatorOptions {
  readonly since?: string;
}

export function inboxCommand(context: CliContext): Registrar {
  return (program) => {
    withOperatorOptions(program.command('inbox'))
      .description('show calls that wait for a decision, live, and decide with single keys')
      .option('--since <time>', `print only calls created ${SINCE}`)
      .addHelpText('after', HELP)
      .action((flags: InboxFlags) => inbox(context, flags));
  };
}

async function inbox(context: CliContext, flags: InboxFlags): Promise<void> {
  await asOperator(context, flags, async (client, { url }) => {
    const isInteractive = context.isTerminal && context.canAsk && flags.json !== true;
    if (!isInteractive || flags.since !== undefined) return list(context, client, flags);
    const signal = await runInbox({
      client,
      terminal: processTerminal(process.stdin, process.stdout),
      where: url,
      paint: (colour, text) => context.output.paint(colour, text),
      now: () => Date.now(),
      every: (ms, action) => {
        const timer = setInterval(action, ms);
        return () => clearInterval(timer);
      },
      edit: (text, stop) => editText(editorCommand(context.environment), text, stop),
    });
    if (signal !== null) context.exitWith(EXIT_BY_SIGNAL[signal] ?? 1);
  });
}

async function list(context: CliContext, client: PatchboardClient, flags: InboxFlags): Promise<void> {
  const isSince = createdSince(flags.since, Date.now());
  const waiting: ApprovalRequestView[] = [];
  for await (const request of client.approvals({ limit: 200 })) if (isSince(request)) waiting.push(request);
  listWaiting(context.output, waiting, flags);
}
