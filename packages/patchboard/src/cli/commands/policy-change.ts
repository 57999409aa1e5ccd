import { PatchboardError, type PatchboardClient } from '@patchboard/client';
import type { PolicyView } from '@patchboard/wire';
import { InvalidArgumentError, type Command } from 'commander';
import { Document as YamlDocument, Scalar, visit } from 'yaml';
import { isConfirmed } from '../confirm.ts';
import type { CliContext } from '../context.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { lineDiff } from '../line-diff.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import { escapeInvisible } from '../terminal-text.ts';
import { documentIn } from './policy-check.ts';

interface ChangeFlags extends OperatorOptions {
  readonly yes?: boolean;
  readonly ifVersion?: number;
}

type Document = Readonly<Record<string, unknown>>;

const PUT_HELP = `
The command shows the difference to the current policy. In a terminal it asks
for confirmation; scripts pass --yes. It replaces the version that it compared
with: if another operator was faster, nothing changes and it exits with 1.

Examples:
  $ patchboard policy show > policy.yaml
  $ patchboard policy put policy.yaml
  $ patchboard policy put policy.yaml --if-version 3 --yes`;

const ROLLBACK_HELP = `
The document of that version becomes a new version; the versions between stay in
the history. Version 0 is the policy of the config file.

Example:
  $ patchboard policy rollback 3`;

export function addPolicyChanges(policy: Command, context: CliContext): void {
  withChangeOptions(policy.command('put'))
    .description('replace the current policy, after showing the changes')
    .argument('<file>', 'YAML or JSON: a policy or a config with one, - for standard input')
    .addHelpText('after', PUT_HELP)
    .action(async (file: string, flags: ChangeFlags) => {
      const document = await documentIn(context, file);
      await change(context, flags, () => Promise.resolve(document));
    });
  withChangeOptions(policy.command('rollback'))
    .description('make an earlier version the current policy, after showing the changes')
    .argument('<version>', 'version, as policy history shows it', versionNumber)
    .addHelpText('after', ROLLBACK_HELP)
    .action((version: number, flags: ChangeFlags) =>
      change(context, flags, (client) => documentOf(client, version)),
    );
}

function withChangeOptions(command: Command): Command {
  return withOperatorOptions(command)
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--if-version <version>', 'change nothing unless this is the current version', versionNumber);
}

export function versionNumber(given: string): number {
  if (/^\d{1,9}$/.test(given)) return Number(given);
  throw new InvalidArgumentError('It must be the number of a version.');
}

async function documentOf(client: PatchboardClient, version: number): Promise<Document> {
  const { document } = await client.policy.version(version);
  if (document !== null) return document;
  throw new UsageError(`version ${version} cannot be parsed, so it cannot become the policy again`);
}

async function change(
  context: CliContext,
  flags: ChangeFlags,
  wanted: (client: PatchboardClient) => Promise<Document>,
): Promise<void> {
  const { output } = context;
  await asOperator(context, flags, async (client) => {
    const current = await client.policy.get();
    if (flags.ifVersion !== undefined && flags.ifVersion !== current.version)
      throw versionDiffers(current.version, flags.ifVersion);
    const document = await wanted(client);
    const lines = lineDiff(policyText(current.document, true), policyText(document, true));
    if (lines.every(({ mark }) => mark === ' ')) return reportNoChange(context, current, flags);
    for (const { mark, text } of lines) output.note(`${mark} ${text}`.trimEnd());
    if (!(await mayReplace(context, current.version, flags))) {
      output.note('nothing changed');
      return context.exitWith(EXIT.usage);
    }
    const replaced = await client.policy.replace(document, { version: current.version });
    for (const { message } of replaced.warnings) output.note(`warning: ${message}`);
    if (flags.json === true) output.json(replaced);
    else output.data(`version ${replaced.version} is the current policy`);
  });
}

/**
 * As YAML that is read back as the same document, with invisible characters escaped. For a comparison the keys are sorted:
 * their order has no meaning.
 */
export function policyText(document: Document | null, isSorted = false): string {
  if (document === null) return '# cannot be parsed';
  const yaml = new YamlDocument(document, { sortMapEntries: isSorted });
  visit(yaml, {
    Scalar: (_key, node) => {
      // An escape is one in double quotes only; without them it is the text that it looks like.
      if (typeof node.value === 'string' && escapeInvisible(node.value) !== node.value)
        node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return escapeInvisible(yaml.toString({ lineWidth: 0 })).trimEnd();
}

function reportNoChange({ output }: CliContext, current: PolicyView, flags: ChangeFlags): void {
  if (flags.json === true) return output.json(current);
  output.note(`nothing changed: version ${current.version} has the same content`);
}

async function mayReplace(context: CliContext, version: number, flags: ChangeFlags): Promise<boolean> {
  if (flags.yes === true) return true;
  if (!context.canAsk) throw new UsageError('without a terminal, add --yes to replace the policy');
  return await isConfirmed(context, `Replace version ${version}?`);
}

function versionDiffers(version: number, expected: number): PatchboardError {
  const detail = `the current policy is version ${version}, not ${expected}; read it again, then send your change`;
  return new PatchboardError('problem', detail, { code: 'conflict' });
}
