import type { UpstreamKind } from '@patchboard/wire';
import type { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { atTarget, withTargetOptions, type TargetOptions } from '../upstreams/upstream-target.ts';
import { waitForUpstreams } from '../upstreams/wait-for-upstream.ts';

export function registerRestart(group: Command, context: CliContext, kind: UpstreamKind): void {
  withTargetOptions(group.command('restart'))
    .description('end its connection and connect again, also after it failed')
    .argument('<name>', `name, as ${kind} list shows it`)
    .addHelpText(
      'after',
      `\nCalls that run on it end as disconnected. Exits with 6 if it does not connect.\n\nExample:\n  $ patchboard ${kind} restart NAME`,
    )
    .action((name: string, flags: TargetOptions) => restart(context, name, flags));
}

async function restart(context: CliContext, name: string, flags: TargetOptions): Promise<void> {
  const { output } = context;
  const view = await atTarget(context, flags, async (client) => {
    await client.restartUpstream(name);
    const [found] = await waitForUpstreams(context, client, [name]);
    return found;
  });
  const state = view?.state ?? 'unknown';
  if (flags.json === true) output.json(view ?? { name, state });
  else output.data(`${name} ${state}`);
  if (state === 'connected') return;
  if (view !== undefined && view.last_error !== null) output.note(view.last_error.message);
  context.exitWith(EXIT.unreachable);
}
