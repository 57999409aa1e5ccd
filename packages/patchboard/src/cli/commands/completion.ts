import { createClient } from '@patchboard/client';
import { TOOL_NAME_PATTERN } from '@patchboard/wire';
import { Argument, type Command } from 'commander';
import { VERSION } from '../../version.ts';
import { commands } from '../commands.ts';
import { bashScript } from '../completion/bash-script.ts';
import { completedCommands, type CompletedCommand } from '../completion/command-model.ts';
import { fishScript } from '../completion/fish-script.ts';
import { zshScript } from '../completion/zsh-script.ts';
import { serverInWords } from '../completion/server-in-words.ts';
import { connectionOf } from '../connection.ts';
import type { CliContext } from '../context.ts';
import { isProfileName, readProfiles } from '../profiles/profile-file.ts';
import { createProgram, type Registrar } from '../program.ts';

/** A key press waits for this long at most. */
const VALUES_MS = 1000;

const SHELLS: Readonly<
  Record<
    string,
    { readonly script: (commands: readonly CompletedCommand[]) => string; readonly help: string }
  >
> = {
  bash: {
    script: bashScript,
    help: '  $ source <(patchboard completion bash)\n  $ patchboard completion bash > /etc/bash_completion.d/patchboard',
  },
  zsh: {
    script: zshScript,
    help: '  $ source <(patchboard completion zsh)\n  $ patchboard completion zsh > ~/.zfunc/_patchboard',
  },
  fish: {
    script: fishScript,
    help: '  $ patchboard completion fish | source\n  $ patchboard completion fish > ~/.config/fish/completions/patchboard.fish',
  },
};

export function completionCommand(context: CliContext): Registrar {
  return (program) => {
    const completion = program
      .command('completion')
      .description('print a script that completes commands, options and values in a shell');
    for (const [shell, { script, help }] of Object.entries(SHELLS))
      completion
        .command(shell)
        .description(`print the script for ${shell}`)
        .addHelpText('after', `\nFor this session, or for all:\n${help}`)
        .action(async () => context.output.data(script(await allCommands(context)).trimEnd()));
    registerValues(completion, context);
  };
}

async function allCommands(context: CliContext): Promise<CompletedCommand[]> {
  const silent = { out: () => undefined, error: () => undefined };
  return completedCommands(createProgram(await commands(context), VERSION, silent));
}

function registerValues(completion: Command, context: CliContext): void {
  completion
    .command('values')
    .description('print the names that the scripts complete, one per line; nothing if they are not available')
    .addArgument(new Argument('<kind>', 'what to print').choices(['tools', 'profiles']))
    .argument(
      '[words...]',
      'the command line before the cursor, after --: its --url or --profile names the server',
    )
    .addHelpText('after', '\nExample:\n  $ patchboard completion values tools')
    .action(async (kind: 'tools' | 'profiles', words: readonly string[]) => {
      for (const name of await valuesOf(context, kind, words)) context.output.data(name);
    });
}

/** Never fails: a message in the middle of a command line would only disturb. */
async function valuesOf(
  context: CliContext,
  kind: 'tools' | 'profiles',
  words: readonly string[],
): Promise<readonly string[]> {
  try {
    const { profiles } = await readProfiles(context.environment);
    if (kind === 'profiles') return Object.keys(profiles).filter(isProfileName);
    const connection = await connectionOf(context.environment, serverInWords(words));
    // The command of a secret may ask for a passphrase.
    if (connection.profile !== null && profiles[connection.profile]?.key?.command !== undefined) return [];
    const key = await connection.key();
    const client = createClient({
      url: connection.url,
      retry: { retries: 0 },
      ...(key === null ? {} : { key: key.secret }),
    });
    const tools = await client.tools({ signal: AbortSignal.timeout(VALUES_MS) });
    // A shell may run what stands in a name, and the server may be any.
    return tools.map(({ name }) => name).filter((name) => TOOL_NAME_PATTERN.test(name));
  } catch {
    return [];
  }
}
