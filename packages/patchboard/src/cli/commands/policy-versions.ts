import type { PolicyVersionView } from '@patchboard/wire';
import type { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { pastMoment, SINCE } from '../duration.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import { cell } from '../output.ts';
import { wholeNumber } from '../flag-values.ts';
import { policyText, versionNumber } from './policy-change.ts';

interface HistoryFlags extends OperatorOptions {
  readonly since?: string;
  readonly limit: string;
}

export function addPolicyVersions(policy: Command, context: CliContext): void {
  withOperatorOptions(policy.command('show'))
    .description('print the policy, or an earlier version of it, as YAML')
    .argument('[version]', 'version, as policy history shows it (default: the current one)', versionNumber)
    .addHelpText('after', '\nExample:\n  $ patchboard policy show > policy.yaml')
    .action((version: number | undefined, flags: OperatorOptions) => show(context, version, flags));
  withOperatorOptions(policy.command('history'))
    .description('list the versions of the policy, newest first')
    .option('--since <time>', SINCE)
    .option('--limit <count>', 'maximum number of versions', '50')
    .addHelpText(
      'after',
      '\nThe current version is marked with *. Version 0 is that of the config file.\n' +
        '\nExample:\n  $ patchboard policy history --since 30d',
    )
    .action((flags: HistoryFlags) => history(context, flags));
}

async function show(context: CliContext, version: number | undefined, flags: OperatorOptions): Promise<void> {
  const { output } = context;
  const view = await asOperator(context, flags, (client) =>
    version === undefined ? client.policy.get() : client.policy.version(version),
  );
  if (flags.json === true) return output.json(view);
  output.data(policyText(view.document));
  const changed = view.changed_at === null ? 'from the config file' : `changed ${view.changed_at}`;
  output.note(`# version ${view.version}, ${changed} by ${view.changed_by}`);
}

async function history(context: CliContext, flags: HistoryFlags): Promise<void> {
  const { output } = context;
  const limit = wholeNumber('--limit', flags.limit, 1);
  const since = flags.since === undefined ? null : pastMoment('--since', flags.since, Date.now()).getTime();
  const { versions, current } = await asOperator(context, flags, async (client) => {
    const found: PolicyVersionView[] = [];
    let newest: number | null = null;
    for await (const one of client.policy.versions({ limit: Math.min(limit, 200) })) {
      newest ??= one.version;
      if (since !== null && (one.changed_at === null || Date.parse(one.changed_at) < since)) break;
      found.push(one);
      if (found.length === limit) break;
    }
    return { versions: found, current: newest };
  });
  if (flags.json === true) return output.json({ versions });
  if (versions.length === 0) return output.note('no versions in that time');
  output.table(
    [{ title: 'VERSION' }, { title: 'CHANGED' }, { title: 'BY' }],
    versions.map((one) => [
      `${one.version}${one.version === current ? ' *' : ''}`,
      cell(one.changed_at ?? 'config file'),
      cell(one.changed_by),
    ]),
  );
}
