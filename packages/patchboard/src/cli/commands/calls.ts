import { CALL_ORDERS, CALL_SORTS, CALL_STATUSES } from '@patchboard/wire';
import { Option, type Command } from 'commander';
import { readArguments } from '../arguments.ts';
import { connect, withServerOptions, type CliContext, type ServerOptions } from '../context.ts';
import { suggesting } from '../completion/suggestions.ts';
import { SINCE } from '../duration.ts';
import type { Registrar } from '../program.ts';
import { withQueryWords } from '../query-words.ts';
import { acceptance, canRespondTo, followOrPrintReceipt, NO_INPUT } from './call.ts';
import { STATE_NAMES } from './calls-filter.ts';
import { DEFAULT_LIMIT, listCalls, type ListFlags } from './calls-list.ts';
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
        showCall(context, await (await connect(context, flags)).get(id), flags);
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
  withQueryWords(withServerOptions(calls.command('ls', { isDefault: true })))
    .description('list calls, newest first (default)')
    .argument('[query...]', 'what to list, such as tool:weather.* state:failed since:1h')
    .option('--query <query>', 'the same as an option')
    .addOption(new Option('--sort <column>', 'sort by this (default created)').choices(CALL_SORTS))
    .addOption(new Option('--order <order>', 'direction (default desc)').choices(CALL_ORDERS))
    .option('--run <id>', 'only calls of this run')
    .option('--tool <name>', 'only calls of this tool')
    .option('--agent <id>', 'only calls of this agent')
    .addOption(suggesting(new Option('--status <status>', STATUSES), CALL_STATUSES))
    .addOption(
      suggesting(
        new Option('--state <state>', 'such as approval_required, running, open or refused'),
        STATE_NAMES,
      ),
    )
    .option('--since <time>', SINCE)
    .option('--until <time>', 'created before: the same forms')
    .option('--limit <count>', 'maximum number of calls', DEFAULT_LIMIT)
    .option('--cursor <cursor>', 'start here: printed below a list that has more')
    .addHelpText('after', LIST_HELP)
    .action((words: string[], flags: ListFlags) => listCalls(context, words, flags));
}

const STATUSES = 'PENDING, RUNNING, SUCCEEDED, FAILED or TIMEOUT';

const LIST_HELP = `
A query has terms with keys, and texts that the arguments contain. All must
match. tool, agent and code take lists and *; state takes names, open,
waiting and ended; a minus excludes:
  tool:weather.*,mail.*  agent:planner  state:failed  status:running
  code:timeout  -tool:x  ran>2s  waited>=1m  total<500ms  since:1h
  until:2026-01-31  run:ID  trace:ID  parent:ID  client:ID
  "text in the arguments"
state:refused lists the requests that were refused before a call was recorded.
Quote the query, so that the shell leaves *, > and " alone.

Examples:
  $ patchboard calls ls --since 1h --sort ran
  $ patchboard calls ls 'tool:weather.* state:failed since:1h'
  $ patchboard calls ls state:failed --select '.tool_calls[].tool_call_id'`;

function registerTail(calls: Command, context: CliContext): void {
  withServerOptions(calls.command('tail'))
    .description('follow events until Ctrl-C; with an id, until that call ends')
    .argument('[id]', 'only events of this call')
    .option('--after <id>', 'start after this event')
    .option('--since <time>', 'start with the events since: 1h, a date or RFC 3339 (needs ledger:read)')
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
  const call = await (await connect(context, flags)).cancel(id);
  if (flags.json === true) context.output.json(call);
  else context.output.data(`${call.tool_call_id} ${call.state}`);
}

async function replay(
  context: CliContext,
  id: string,
  pairs: readonly string[],
  flags: ReplayFlags,
): Promise<void> {
  const client = await connect(context, flags);
  const changed = pairs.length > 0 || flags.args !== undefined;
  const given = { pairs, ...(flags.args === undefined ? {} : { args: flags.args }) };
  const schema = async () => (await client.tool((await client.get(id)).tool_name)).schema;
  const args = changed ? await readArguments(given, context.sources, schema) : undefined;
  const canRespond = canRespondTo(context, given, flags);
  const receipt = await client.replay(id, args, acceptance(canRespond, flags));
  await followOrPrintReceipt(context, client, receipt, { ...flags, canRespond });
}
