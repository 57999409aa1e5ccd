import type { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import { throwIfInvalidId } from '../invalid-id.ts';
import { withJsonOptions } from '../json-options.ts';
import {
  profileFileOf,
  readProfiles,
  throwIfInvalidProfileName,
  writeProfiles,
  type Profile,
  type SecretSource,
} from '../profiles/profile-file.ts';

interface AddFlags {
  readonly url: string;
  readonly keyStdin?: boolean;
  readonly keyEnv?: string;
  readonly keyCommand?: string;
  readonly operatorTokenEnv?: string;
  readonly operatorTokenCommand?: string;
  readonly tenant?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

const HELP = `
The key is for commands of agents (call, calls, runs, tools) and, without an
operator token, for those of operators too. Prefer --key-env or --key-command,
which keep the secret out of the file; with --key-stdin it is stored there,
readable by this user only. A command's output is used without white space at
its ends, and it runs each time that a command needs the key.

Examples:
  $ patchboard profile add prod --url https://board.example \\
      --key-command 'pass show board/prod'
  $ patchboard profile add local --url http://127.0.0.1:9000 \\
      --operator-token-command 'cat ~/board/.patchboard/operator.token'`;

export function registerProfileAdd(profile: Command, context: CliContext): void {
  withJsonOptions(profile.command('add'))
    .description('add a profile')
    .argument('<name>', 'name of the profile')
    .requiredOption('--url <url>', 'URL of the server')
    .option('--key-stdin', 'read the key from standard input and store it')
    .option('--key-env <variable>', 'environment variable that has the key')
    .option('--key-command <command>', 'command that prints the key')
    .option('--operator-token-env <variable>', 'environment variable that has the operator token')
    .option('--operator-token-command <command>', 'command that prints the operator token')
    .option('--tenant <id>', "tenant of operators' commands")
    .option('--force', 'replace a profile of this name')
    .addHelpText('after', HELP)
    .action((name: string, flags: AddFlags) => add(context, name, flags));
}

async function add(context: CliContext, name: string, flags: AddFlags): Promise<void> {
  const { environment, output } = context;
  throwIfInvalidProfileName(name);
  if (!/^https?:$/.test(URL.parse(flags.url)?.protocol ?? ''))
    throw new UsageError(`--url: "${flags.url}" is not an http(s) URL`);
  if (flags.tenant !== undefined) throwIfInvalidId('--tenant', flags.tenant);
  const file = await readProfiles(environment);
  if (Object.hasOwn(file.profiles, name) && flags.force !== true)
    throw new UsageError(`there is a profile "${name}" already: add --force to replace it`);
  const profile = await profileOf(context, flags);
  await writeProfiles(environment, { ...file, profiles: { ...file.profiles, [name]: profile } });
  const path = profileFileOf(environment);
  if (flags.json === true) return output.json({ name, url: flags.url, file: path });
  output.data(`${name} added to ${path}`);
  output.note(`use it with: patchboard profile use ${name}, or --profile ${name}`);
}

async function profileOf(context: CliContext, flags: AddFlags): Promise<Profile> {
  const given = [flags.keyStdin === true ? 'stdin' : undefined, flags.keyEnv, flags.keyCommand];
  if (given.filter((one) => one !== undefined).length > 1)
    throw new UsageError('give only one of --key-stdin, --key-env and --key-command');
  if (flags.operatorTokenEnv !== undefined && flags.operatorTokenCommand !== undefined)
    throw new UsageError('give only one of --operator-token-env and --operator-token-command');
  const key = flags.keyStdin === true ? await readKey(context) : sourceOf(flags.keyEnv, flags.keyCommand);
  const operatorToken = sourceOf(flags.operatorTokenEnv, flags.operatorTokenCommand);
  return {
    url: flags.url,
    ...(key === null ? {} : { key }),
    ...(operatorToken === null ? {} : { operatorToken }),
    ...(flags.tenant === undefined ? {} : { tenant: flags.tenant }),
  };
}

async function readKey({ sources }: CliContext): Promise<SecretSource> {
  const value = (await sources.readStdin()).trim();
  if (value === '') throw new UsageError('--key-stdin: standard input is empty');
  return { value };
}

function sourceOf(env: string | undefined, command: string | undefined): SecretSource | null {
  if (env !== undefined) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(env)) throw new UsageError(`"${env}" is not the name of a variable`);
    return { env };
  }
  return command === undefined ? null : { command };
}
