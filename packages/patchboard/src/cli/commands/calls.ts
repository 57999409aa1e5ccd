import type { Command } from 'commander';
import { readArguments } from '../arguments.ts';
import { connect, withServerOptions, type CliContext, type ServerOptions } from '../context.ts';
import type { Registrar } from '../program.ts';
import { acceptance, canRespondTo, followOrPrintReceipt, NO_INPUT } from './call.ts';
import { listCalls, type ListFlags } from './calls-list.ts';
import { showCall } from './calls-show.ts';
import { tailCalls, type TailFlags } from './calls-tail.ts';

interface ReplayFlags extends ServerOptions {
  readonly args?: string;
  readonly timeout?: string;
  readonly wait: boolean;
  readonly input: boolean;
}

export function callsCommand(context: CliContext): Registrar {
  return (program) => {
    const calls = program.command('calls').description('list, show, follow, cancel and replay calls');
    registerList(calls, context);
    registerTail(calls, context);
    withServerOptions(calls.command('show'))
      .description('show all details of a call')
      .argument('<id>', 'id of the call')
      .addHelpText('after', '\nExample:\n  $ patchboard calls show tc_…')
      .action(async (id: string, flags: ServerOptions) => {
        showCall(context, await connect(context, flags).get(id), flags);
      });
    withServerOptions(calls.command('cancel'))
      .description('cancel a call')
      .argument('<id>', 'id of the call')
      .addHelpText('after', '\nExample:\n  $ patchboard calls cancel tc_…')
      .action((id: string, flags: ServerOptions) => cancel(context, id, flags));
    registerReplay(calls, context);
  };
}

function registerList(calls: Command, context: CliContext): void {
  withServerOptions(calls.command('ls', { isDefault: true }))
    .description('list calls, newest first (default)')
    .option('--run <id>', 'only calls of this run')
    .option('--tool <name>', 'only calls of this tool')
    .option('--agent <id>', 'only calls of this agent')
    .option('--status <status>', 'PENDING, RUNNING, SUCCEEDED, FAILED or TIMEOUT')
    .option('--state <state>', 'such as APPROVAL_REQUIRED or COMPLETED')
    .option('--since <time>', 'created at or after, RFC 3339')
    .option('--limit <count>', 'maximum number of calls', '20')
    .addHelpText('after', '\nExample:\n  $ patchboard calls ls --tool weather.query --status FAILED')
    .action((flags: ListFlags) => listCalls(context, flags));
}

function registerTail(calls: Command, context: CliContext): void {
  withServerOptions(calls.command('tail'))
    .description('follow events until Ctrl-C; with an id, until that call ends')
    .argument('[id]', 'only events of this call')
    .option('--after <id>', 'start after this event')
    .addHelpText(
      'after',
      '\nWith --json each event is one line.\n\nExample:\n  $ patchboard calls tail --json | jq .data.state',
    )
    .action((id: string | undefined, flags: TailFlags) => tailCalls(context, id, flags));
}

function registerReplay(calls: Command, context: CliContext): void {
  withServerOptions(calls.command('replay'))
    .description('call the same tool again, with the same or other arguments')
    .argument('<id>', 'id of the call')
    .argument('[arguments...]', 'key=value, key:=json, or - for standard input; these replace the old ones')
    .option('--args <json>', 'all arguments as one JSON object, @file, or - for standard input')
    .option('--timeout <seconds>', 'stop waiting after this time; the call continues')
    .option('--no-wait', 'print the receipt and do not wait')
    .option('--no-input', NO_INPUT)
    .addHelpText('after', '\nExample:\n  $ patchboard calls replay tc_… query=Shanghai')
    .action((id: string, pairs: string[], flags: ReplayFlags) => replay(context, id, pairs, flags));
}

async function cancel(context: CliContext, id: string, flags: ServerOptions): Promise<void> {
  const call = await connect(context, flags).cancel(id);
  if (flags.json === true) context.output.json(call);
  else context.output.data(`${call.tool_call_id} ${call.state}`);
}

async function replay(
  context: CliContext,
  id: string,
  pairs: readonly string[],
  flags: ReplayFlags,
): Promise<void> {
  const client = connect(context, flags);
  const changed = pairs.length > 0 || flags.args !== undefined;
  const given = { pairs, ...(flags.args === undefined ? {} : { args: flags.args }) };
  const schema = async () => (await client.tool((await client.get(id)).tool_name)).schema;
  const args = changed ? await readArguments(given, context.sources, schema) : undefined;
  const canRespond = canRespondTo(context, given, flags);
  const receipt = await client.replay(id, args, acceptance(canRespond, flags));
  await followOrPrintReceipt(context, client, receipt, { ...flags, canRespond });
}
