import { PatchboardError, type PatchboardClient } from '@patchboard/client';
import { CONSOLE_PAGES } from '@patchboard/wire';
import { Argument } from 'commander';
import { suggesting } from '../completion/suggestions.ts';
import type { CliContext } from '../context.ts';
import { hasTrace, unknownId } from '../known-ids.ts';
import { browserCommand, startBrowser } from '../open-browser.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import type { Registrar } from '../program.ts';

interface OpenFlags extends OperatorOptions {
  readonly print?: boolean;
}

const HELP = `
A target is the id of a call, a run or a trace, or a page:
  ${CONSOLE_PAGES.slice(0, 7).join(', ')},
  ${CONSOLE_PAGES.slice(7).join(', ')}
With the operator token the address has a one-time login link, valid for an
hour, which other users of this machine can see while the browser starts. With
--print, and without a browser or a terminal, the address is only printed.

Examples:
  $ patchboard open
  $ patchboard open approvals
  $ patchboard open tc_… --print`;

export function openCommand(context: CliContext): Registrar {
  return (program) => {
    withOperatorOptions(program.command('open'))
      .description('open the console in a browser, at a call, a run, a trace or a page')
      .addArgument(
        suggesting(new Argument('[target]', 'id of a call, a run or a trace, or a page'), CONSOLE_PAGES),
      )
      .option('--print', 'print the address and start no browser')
      .addHelpText('after', HELP)
      .action((target: string | undefined, flags: OpenFlags) => open(context, target, flags));
  };
}

async function open(context: CliContext, target: string | undefined, flags: OpenFlags): Promise<void> {
  const { output } = context;
  const { address, isLogin } = await asOperator(context, flags, async (client, { url }) => {
    const path = await pathOf(client, target);
    const login = await loginFragment(client);
    return { address: `${new URL(url).origin}${path}${login ?? ''}`, isLogin: login !== null };
  });
  if (flags.json === true) return output.json({ url: address, is_login: isLogin });
  const browser =
    flags.print === true || !context.isTerminal
      ? null
      : browserCommand(context.environment, process.platform, address);
  if (browser !== null && (await startBrowser(browser))) {
    output.note(`opened ${address.replace(/#.*/, '')}`);
    return;
  }
  output.data(address);
  if (isLogin) output.note('signs in as operator, once, within an hour');
}

/** Checks that there is such a call, run or trace. */
async function pathOf(client: PatchboardClient, target: string | undefined): Promise<string> {
  if (target === undefined) return '/ui/';
  if (CONSOLE_PAGES.some((page) => page === target)) return `/ui/${target}`;
  const id = encodeURIComponent(target);
  if (await isKnown(client.get(target))) return `/ui/calls/${id}`;
  if (await isKnown(client.runs.get(target))) return `/ui/runs/${id}`;
  if (await hasTrace(client, target)) return `/ui/traces/${id}`;
  throw unknownId('call, run, trace or page', target);
}

async function isKnown(found: Promise<unknown>): Promise<boolean> {
  try {
    await found;
    return true;
  } catch (error) {
    if (error instanceof PatchboardError && error.status === 404) return false;
    throw error;
  }
}

/** Null if the credential is not the operator token: the console then shows its own sign-in. */
async function loginFragment(client: PatchboardClient): Promise<string | null> {
  try {
    const { url_path: path } = await client.loginLink();
    return path.slice(path.indexOf('#'));
  } catch (error) {
    if (error instanceof PatchboardError && (error.status === 401 || error.status === 403)) return null;
    throw error;
  }
}
