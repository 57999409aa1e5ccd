import type { PatchboardClient } from '@patchboard/client';
import type { DryRunView } from '@patchboard/wire';
import { readArguments } from '../arguments.ts';
import { connect, withServerOptions, type CliContext, type ServerOptions } from '../context.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { followCall } from '../follow-call.ts';
import type { Registrar } from '../program.ts';

interface CallFlags extends ServerOptions {
  readonly args?: string;
  readonly run?: string;
  readonly target?: string;
  readonly timeout?: string;
  readonly idempotencyKey?: string;
  readonly wait: boolean;
  readonly input: boolean;
  readonly save?: string;
  readonly dryRun?: boolean;
}

const HELP = `
Arguments:
  key=value     the tool's schema determines the type of the value
  key:=json     any JSON value
  -             a JSON object from standard input

If the tool asks for input, a terminal gets a form. With --no-input, --json or
without a terminal, a tool that needs input fails (input_unavailable). After
--no-wait, respond with: patchboard input <id>

Examples:
  $ patchboard call calculation.eval expression='(3+4)*6'
  $ patchboard call weather.query query='weather in Beijing'
  $ patchboard call database.query sql='select ?' params:='[3]'
  $ echo '{"expression":"2^10"}' | patchboard call calculation.eval -
  $ patchboard call database.query --args @query.json --timeout 60`;

export const NO_INPUT = 'do not respond to input requests: the tool fails if it needs input';

export function callCommand(context: CliContext): Registrar {
  return (program) => {
    withServerOptions(program.command('call'))
      .description('call a tool and print its result; Ctrl-C cancels the call')
      .argument('<tool>', 'name of the tool')
      .argument('[arguments...]', 'key=value, key:=json, or - for standard input')
      .option('--args <json>', 'all arguments as one JSON object, @file, or - for standard input')
      .option('--run <id>', 'run that the call belongs to')
      .option('--target <client>', 'client or device that runs the call, if several provide the tool')
      .option('--timeout <seconds>', 'stop waiting after this time; the call continues')
      .option('--idempotency-key <key>', 'a repeated request with the same key returns the same call')
      .option('--save <folder>', 'write pictures, audio and resources of the result into this folder')
      .option('--no-wait', 'print the receipt and do not wait')
      .option('--no-input', NO_INPUT)
      .option('--dry-run', 'validate and show the decision and the route, without calling the tool')
      .addHelpText('after', HELP)
      .action((tool: string, pairs: string[], flags: CallFlags) => call(context, tool, pairs, flags));
  };
}

async function call(
  context: CliContext,
  tool: string,
  pairs: readonly string[],
  flags: CallFlags,
): Promise<void> {
  if (flags.save !== undefined && !flags.wait)
    throw new UsageError('--save needs the result: omit --no-wait');
  const client = await connect(context, flags, flags.run);
  const given = { pairs, ...(flags.args === undefined ? {} : { args: flags.args }) };
  const args = await readArguments(given, context.sources, async () => (await client.tool(tool)).schema);
  const target = flags.target === undefined ? {} : { target: flags.target };
  if (flags.dryRun === true) return printDryRun(context, await client.dryRun(tool, args, target), flags);
  const key = flags.idempotencyKey === undefined ? {} : { idempotencyKey: flags.idempotencyKey };
  // Without `Prefer: wait`: Ctrl-C needs the id to cancel the call.
  const canRespond = canRespondTo(context, given, flags);
  const receipt = await client.invoke(tool, args, { ...target, ...key, ...acceptance(canRespond, flags) });
  await followOrPrintReceipt(context, client, receipt, { ...flags, canRespond });
}

/** Whether a person at the terminal can fill in a form. Arguments from standard input leave no input for it. */
export function canRespondTo(
  { canAsk }: CliContext,
  given: { readonly pairs: readonly string[]; readonly args?: string },
  flags: { readonly input: boolean; readonly wait: boolean; readonly json?: boolean },
): boolean {
  const usesStdin = given.args === '-' || given.pairs.includes('-');
  return canAsk && flags.input && flags.wait && flags.json !== true && !usesStdin;
}

/** A command that does not wait leaves it to `patchboard input` to respond. */
export function acceptance(
  canRespond: boolean,
  flags: { readonly input: boolean; readonly wait: boolean },
): { readonly acceptsInput?: boolean } {
  return canRespond || (flags.input && !flags.wait) ? {} : { acceptsInput: false };
}

export async function followOrPrintReceipt(
  context: CliContext,
  client: PatchboardClient,
  receipt: { readonly tool_call_id: string },
  flags: {
    readonly wait: boolean;
    readonly json?: boolean;
    readonly timeout?: string;
    readonly save?: string;
    readonly canRespond: boolean;
  },
): Promise<void> {
  if (flags.wait) return followCall(context, client, receipt.tool_call_id, flags);
  if (flags.json === true) context.output.json(receipt);
  else context.output.data(receipt.tool_call_id);
}

function printDryRun({ output, exitWith }: CliContext, view: DryRunView, flags: CallFlags): void {
  if (!view.valid) exitWith(EXIT.usage);
  else if (view.decision.effect === 'deny') exitWith(EXIT.denied);
  if (flags.json === true) return output.json(view);
  const { decision, route } = view;
  output.data(`arguments  ${view.valid ? 'valid' : 'not valid'}`);
  for (const issue of view.errors)
    output.data(`           ${issue.path === '' ? '/' : issue.path}: ${issue.message}`);
  output.data(
    `decision   ${decision.effect} (${[decision.rule, decision.reason].filter(Boolean).join(': ')})`,
  );
  output.data(
    `route      ${route.source}${route.client_id === null ? '' : ` ${route.client_id}`}${route.online ? '' : ', offline'}`,
  );
}
