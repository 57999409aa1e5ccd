import type { PatternMatchesView, PolicyReviewView } from '@patchboard/wire';
import type { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { readInput } from '../read-input.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import { cell } from '../output.ts';
import { readPolicy, type PolicyFile } from '../policy-file.ts';
import { clientSettings } from '../../settings/environment.ts';
import { upstreamNames } from '../../settings/upstream-config.ts';
import { readUpstreamFile } from '../../settings/upstream-file.ts';

interface CheckFlags extends OperatorOptions {
  readonly online?: boolean;
}

export function addPolicyCheck(policy: Command, context: CliContext): void {
  withOperatorOptions(policy.command('check'))
    .description('check a policy, or a config with a policy')
    .argument('[file]', 'YAML or JSON, - for standard input (default: the current policy of the server)')
    .option('--online', 'also compare the file with the tools and keys of a running server')
    .addHelpText(
      'after',
      '\nA file alone needs no server. Exits with 2 if there is an error; warnings do not\nchange the exit code.\n\n' +
        'Example:\n  $ patchboard policy check patchboard.yaml --online',
    )
    .action((file: string | undefined, flags: CheckFlags) =>
      file === undefined ? checkInForce(context, flags) : checkFile(context, file, flags),
    );
}

async function checkInForce(context: CliContext, flags: CheckFlags): Promise<void> {
  const { version, document, warnings, matches } = await asOperator(context, flags, (client) =>
    client.policy.get(),
  );
  if (document === null) context.exitWith(EXIT.usage);
  if (flags.json === true)
    return context.output.json({ ok: document !== null, version, problems: [], warnings, matches });
  context.output.data(
    document === null
      ? `version ${version}: cannot be parsed, so no call is allowed`
      : `version ${version}: ok`,
  );
  printReview(context, { warnings, matches });
}

async function checkFile(context: CliContext, file: string, flags: CheckFlags): Promise<void> {
  const { output, exitWith } = context;
  const read = await readPolicyFile(context, file);
  const problems = read.ok ? [] : read.problems;
  if (!read.ok) exitWith(EXIT.usage);
  const review =
    read.ok && flags.online === true
      ? await asOperator(context, flags, (client) => client.policy.check(read.document))
      : null;
  if (flags.json === true) return output.json({ ok: read.ok, problems, ...review });
  if (read.ok) output.data(`${cell(file)}: ok`);
  for (const { line, message } of problems) output.data(`${cell(file)}:${line}: ${cell(message)}`);
  if (review !== null) printReview(context, review);
}

function printReview({ output }: CliContext, { warnings, matches }: PolicyReviewView): void {
  for (const { message } of warnings) output.data(`${output.paint('yellow', 'warning')}  ${cell(message)}`);
  for (const match of matches.filter(({ count }) => count > 0)) output.data(matchLine(match));
}

function matchLine({ rule, pattern, count, tools }: PatternMatchesView): string {
  const names = `${tools.join(', ')}${count > tools.length ? ', …' : ''}`;
  return `${cell(rule)}: "${cell(pattern)}" matches ${count} ${count === 1 ? 'tool' : 'tools'}: ${cell(names)}`;
}

/** Returns the policy in the file. Throws a `UsageError` with all problems. */
export async function documentIn(
  context: CliContext,
  file: string,
): Promise<Readonly<Record<string, unknown>>> {
  const read = await readPolicyFile(context, file);
  if (read.ok) return read.document;
  throw new UsageError(read.problems.map(({ line, message }) => `${file}:${line}: ${message}`).join('\n'));
}

async function readPolicyFile(context: CliContext, file: string): Promise<PolicyFile> {
  const { sources, environment } = context;
  const added = readUpstreamFile(clientSettings(environment).dataFolder);
  return readPolicy(await readInput(sources, file), upstreamNames(added.value));
}
