import { PatchboardError } from '@patchboard/client';
import type { ContractDifference, UpstreamKind, UpstreamToolView, UpstreamView } from '@patchboard/wire';
import type { Command } from 'commander';
import { didYouMean } from '../../core/spelling.ts';
import { isConfirmed } from '../confirm.ts';
import type { CliContext } from '../context.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { cell, type Output } from '../output.ts';
import { verbatimJsonLine } from '../terminal-text.ts';
import { atTarget, withTargetOptions, type TargetOptions } from '../upstreams/upstream-target.ts';

interface AcceptFlags extends TargetOptions {
  readonly yes?: boolean;
}

type ChangedTool = UpstreamToolView & { readonly change: NonNullable<UpstreamToolView['change']> };

export function registerAccept(group: Command, context: CliContext, kind: UpstreamKind): void {
  withTargetOptions(group.command('accept'))
    .description('accept the changed contracts of its tools, after showing the changes')
    .argument('<name>', 'NAME for all its tools, or NAME.TOOL')
    .option('-y, --yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      `\nUntil then calls of a changed tool require approval, or what on_change says.\nWithout a terminal it needs --yes.\n\nExample:\n  $ patchboard ${kind} accept NAME`,
    )
    .action((target: string, flags: AcceptFlags) => accept(context, target, flags));
}

async function accept(context: CliContext, target: string, flags: AcceptFlags): Promise<void> {
  const { output } = context;
  const [name = ''] = target.split('.');
  const tool = target === name ? null : target;
  await atTarget(context, flags, async (client) => {
    const changed = changedTools(await client.upstreams(), name, tool);
    if (changed.length === 0) {
      if (flags.json === true) output.json({ accepted: [] });
      return output.note('nothing to accept: the contracts are those that were accepted');
    }
    // Shown also to scripts, so that their log contains what was accepted.
    if (flags.json !== true || context.canAsk) for (const one of changed) printChange(output, one);
    if (!(await mayAccept(context, changed.length, flags))) {
      output.note('nothing accepted');
      return context.exitWith(EXIT.usage);
    }
    const versions = Object.fromEntries(changed.map((one) => [one.name, one.version]));
    const { accepted } = await client.acceptContracts(name, versions);
    if (flags.json === true) return output.json({ accepted });
    for (const one of accepted) output.data(`${cell(one)} accepted`);
  });
}

function changedTools(upstreams: readonly UpstreamView[], name: string, tool: string | null): ChangedTool[] {
  const upstream = upstreams.find((one) => one.name === name);
  if (upstream === undefined)
    throw notFound(
      `there is no upstream ${name}`,
      name,
      upstreams.map((one) => one.name),
    );
  const tools = upstream.tools.filter((one) => tool === null || one.name === tool);
  if (tool !== null && tools.length === 0)
    throw notFound(
      `${name} has no tool ${tool}`,
      tool,
      upstream.tools.map((one) => one.name),
    );
  return tools.filter((one): one is ChangedTool => one.change !== undefined);
}

function notFound(message: string, given: string, known: readonly string[]): PatchboardError {
  const advice = known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`;
  return new PatchboardError('problem', `${message}${didYouMean(given, known)}`, {
    code: 'value_not_found',
    recommendations: [advice],
  });
}

function printChange(output: Output, { name, version, change }: ChangedTool): void {
  output.data(
    `${output.paint('bold', cell(name))}  ${cell(change.from)} → ${cell(version)}, since ${cell(change.since)}`,
  );
  for (const difference of change.differences) printDifference(output, difference);
}

function printDifference(output: Output, { path, ...values }: ContractDifference): void {
  output.data(`  ${cell(path === '' ? '/' : path)}`);
  if ('before' in values) output.data(output.paint('red', `    - ${verbatimJsonLine(values.before)}`));
  if ('after' in values) output.data(output.paint('green', `    + ${verbatimJsonLine(values.after)}`));
}

async function mayAccept(context: CliContext, count: number, flags: AcceptFlags): Promise<boolean> {
  if (flags.yes === true) return true;
  if (!context.canAsk) throw new UsageError('without a terminal, accept needs --yes');
  const what = count === 1 ? 'this contract' : `these ${count} contracts`;
  return await isConfirmed(context, `Accept ${what}?`);
}
