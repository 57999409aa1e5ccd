import { PatchboardError, type Decision, type PatchboardClient } from '@patchboard/client';
import type { ApprovalRequestView, CallView } from '@patchboard/wire';
import { Option, type Command } from 'commander';
import { approvalLines, editLines, expiresIn } from '../approval-text.ts';
import { readArguments } from '../arguments.ts';
import { isConfirmed } from '../confirm.ts';
import type { CliContext } from '../context.ts';
import { durationMs } from '../duration.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import { cell, type Output } from '../output.ts';
import type { Registrar } from '../program.ts';
import { verbatimJson, verbatimJsonLine } from '../terminal-text.ts';

interface DecideFlags extends OperatorOptions {
  readonly note?: string;
  readonly yes?: boolean;
  readonly args?: string;
  readonly always?: 'exact' | 'tool';
  readonly for?: string;
}

const WITHOUT_ID = `
Without an id, the command decides on the only waiting call; if none or several
wait, it lists them and decides nothing. On a terminal it shows the call and
asks for confirmation; scripts pass the id or --yes.`;

export function approveCommand(context: CliContext): Registrar {
  return (program) => {
    decideOptions(program.command('approve'))
      .description('approve a waiting call')
      .option('--note <text>', 'note for the ledger')
      .option('--args <json>', 'run the call with these arguments: JSON, @file, or - for standard input')
      .addOption(
        new Option(
          '--always <what>',
          'also allow later calls of this agent: with the same arguments, or with any',
        ).choices(['exact', 'tool']),
      )
      .option('--for <span>', 'duration of --always, such as 1h or 30d (default: until revoked)')
      .addHelpText(
        'after',
        `${WITHOUT_ID}\n\nExamples:\n  $ patchboard approve\n  $ patchboard approve tc_… --always tool --for 1h\n` +
          `  $ patchboard approve tc_… --args '{"cents":100}' --note 'less'`,
      )
      .action((id: string | undefined, flags: DecideFlags) => decide(context, 'allow', id, flags));
  };
}

export function denyCommand(context: CliContext): Registrar {
  return (program) => {
    decideOptions(program.command('deny'))
      .description('deny a waiting call')
      .option('--note <text>', 'reason; the model sees it')
      .addHelpText('after', `${WITHOUT_ID}\n\nExample:\n  $ patchboard deny tc_… --note 'ask me tomorrow'`)
      .action((id: string | undefined, flags: DecideFlags) => decide(context, 'deny', id, flags));
  };
}

function decideOptions(command: Command): Command {
  return withOperatorOptions(command)
    .argument('[id]', 'id of the call')
    .option('-y, --yes', 'do not ask for confirmation');
}

async function decide(
  context: CliContext,
  decision: Decision['decision'],
  id: string | undefined,
  flags: DecideFlags,
): Promise<void> {
  const { output, exitWith } = context;
  const grant = grantOf(flags);
  const args =
    flags.args === undefined
      ? undefined
      : await readArguments({ pairs: [], args: flags.args }, context.sources, () => Promise.resolve(true));
  await asOperator(context, flags, async (client) => {
    const request = await pick(context, client, id, flags);
    if (request === null) return exitWith(EXIT.usage);
    // Shown also without a terminal, so that a script's log contains what was approved. JSON output contains it anyway.
    if (flags.json !== true || context.canAsk) show(output, request, args);
    if (!(await maySend(context, decision, id, flags))) {
      output.note('nothing decided');
      return exitWith(EXIT.usage);
    }
    const call = await client.decide(request.tool_call_id, {
      decision,
      digest: request.digest,
      ...(flags.note === undefined ? {} : { note: flags.note }),
      ...(args === undefined ? {} : { args }),
      ...(grant === undefined ? {} : { grant }),
    });
    report(output, call, decision, flags);
  });
}

function report(output: Output, call: CallView, decision: Decision['decision'], flags: DecideFlags): void {
  if (flags.json === true) return output.json(call);
  output.data(`${cell(call.tool_call_id)} ${decision === 'allow' ? 'approved' : 'denied'}`);
}

/** Returns null after listing the waiting calls if there is not exactly one. */
async function pick(
  { output, canAsk }: CliContext,
  client: PatchboardClient,
  id: string | undefined,
  flags: DecideFlags,
): Promise<ApprovalRequestView | null> {
  const waiting: ApprovalRequestView[] = [];
  for await (const request of client.approvals({ limit: 200 })) {
    if (request.tool_call_id === id) return request;
    waiting.push(request);
  }
  if (id !== undefined) throw notWaiting(await client.get(id));
  const [only, second] = waiting;
  if (only !== undefined && second === undefined && (canAsk || flags.yes === true)) return only;
  listWaiting(output, waiting, flags);
  if (waiting.length > 0) output.note('nothing decided: pass the id of a call, or --yes if only one waits');
  return null;
}

export function listWaiting(
  output: Output,
  waiting: readonly ApprovalRequestView[],
  flags: { readonly json?: boolean },
): void {
  if (flags.json === true) return output.json({ approvals: waiting }, verbatimJson);
  if (waiting.length === 0) return output.note('nothing waits for a decision');
  output.table(
    [
      { title: 'ID' },
      { title: 'EXPIRES IN' },
      { title: 'TOOL' },
      { title: 'AGENT' },
      { title: 'ARGUMENTS', flexible: true },
    ],
    waiting.map((request) => [
      cell(request.tool_call_id),
      expiresIn(request, Date.now()),
      cell(request.tool_name),
      cell(request.agent_id),
      verbatimJsonLine(request.args),
    ]),
  );
}

function notWaiting(call: CallView): PatchboardError {
  const detail = `call ${call.tool_call_id} does not wait for a decision: it is ${call.state}`;
  return new PatchboardError('problem', detail, { code: 'conflict', state: call.state });
}

function show(output: Output, request: ApprovalRequestView, args: unknown): void {
  for (const line of approvalLines(request, Date.now())) output.note(line);
  if (args === undefined) return;
  output.note('instead');
  for (const { mark, text } of editLines(request.args, args)) output.note(`${mark} ${text}`);
}

/** Asks for confirmation on a terminal, except for a denial by id, which is harmless. */
async function maySend(
  context: CliContext,
  decision: Decision['decision'],
  id: string | undefined,
  flags: DecideFlags,
): Promise<boolean> {
  if (flags.yes === true || !context.canAsk || (decision === 'deny' && id !== undefined)) return true;
  return await isConfirmed(context, decision === 'allow' ? 'Let it run?' : 'Deny it?');
}

const LONGEST_GRANT_S = 31_536_000;

function grantOf(flags: DecideFlags): Decision['grant'] {
  if (flags.always === undefined) {
    if (flags.for !== undefined) throw new UsageError('--for requires --always');
    return undefined;
  }
  if (flags.for === undefined) return { scope: flags.always };
  const lifetimeSeconds = durationMs('--for', flags.for) / 1000;
  if (lifetimeSeconds > LONGEST_GRANT_S) throw new UsageError('--for: at most 365d');
  return { scope: flags.always, lifetimeSeconds };
}
