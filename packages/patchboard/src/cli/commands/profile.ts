import type { Command } from 'commander';
import { connectionOf, unknownProfile } from '../connection.ts';
import type { CliContext } from '../context.ts';
import { UsageError } from '../exit-codes.ts';
import { withJsonOptions } from '../json-options.ts';
import { cell } from '../output.ts';
import {
  profileFileOf,
  readProfiles,
  writeProfiles,
  type Profile,
  type ProfileFile,
} from '../profiles/profile-file.ts';
import { secretText } from '../profiles/profile-secret.ts';
import type { Registrar } from '../program.ts';
import { registerProfileAdd } from './profile-add.ts';

interface JsonFlags {
  readonly json?: boolean;
}

const PRECEDENCE = `
The first of these names the server: --url or --profile; PATCHBOARD_URL; the
profile of PATCHBOARD_PROFILE; that of profile use; the server that runs on the
data folder (PATCHBOARD_DATA, default ./.patchboard); http://127.0.0.1:8080.
PATCHBOARD_KEY and PATCHBOARD_OPERATOR_TOKEN come before the credentials of a
profile, except with --profile, which ignores them. A profile's credentials are
sent to its own URL only.

Examples:
  $ patchboard profile use prod
  $ patchboard calls ls --profile staging`;

export function profileCommand(context: CliContext): Registrar {
  return (program) => {
    const profile = program
      .command('profile')
      .description('named servers with their credentials')
      .addHelpText('after', PRECEDENCE);
    withJsonOptions(profile.command('ls', { isDefault: true }))
      .description('list profiles (default); the one in use is marked with *')
      .addHelpText('after', '\nExample:\n  $ patchboard profile ls')
      .action((flags: JsonFlags) => list(context, flags));
    withJsonOptions(profile.command('show'))
      .description('show a profile, without its secrets')
      .argument('[name]', 'name of the profile (default: the one in use)')
      .addHelpText('after', '\nExample:\n  $ patchboard profile show prod')
      .action((name: string | undefined, flags: JsonFlags) => show(context, name, flags));
    registerProfileAdd(profile, context);
    registerUse(profile, context);
    withJsonOptions(profile.command('remove'))
      .description('remove a profile')
      .argument('<name>', 'name of the profile')
      .addHelpText('after', '\nExample:\n  $ patchboard profile remove staging')
      .action((name: string, flags: JsonFlags) => remove(context, name, flags));
  };
}

function registerUse(profile: Command, context: CliContext): void {
  withJsonOptions(profile.command('use'))
    .description('use a profile for all commands that name no server')
    .argument('[name]', 'name of the profile')
    .option('--none', 'use no profile')
    .addHelpText('after', '\nExamples:\n  $ patchboard profile use prod\n  $ patchboard profile use --none')
    .action((name: string | undefined, flags: JsonFlags & { readonly none?: boolean }) =>
      use(context, name, flags),
    );
}

async function list(context: CliContext, flags: JsonFlags): Promise<void> {
  const { output, environment } = context;
  const file = await readProfiles(environment);
  const { profile: used } = await connectionOf(environment, {});
  const rows = Object.entries(file.profiles);
  if (flags.json === true)
    return output.json({
      profiles: rows.map(([name, one]) => ({ ...viewOf(name, one), is_used: name === used })),
    });
  if (rows.length === 0)
    return output.note('no profiles; add one with: patchboard profile add NAME --url URL');
  output.table(
    [{ title: 'NAME' }, { title: 'URL' }, { title: 'CREDENTIAL', flexible: true }, { title: 'TENANT' }],
    rows.map(([name, one]) => [
      cell(`${name}${name === used ? ' *' : ''}`),
      cell(one.url),
      cell(credentialText(one)),
      cell(one.tenant ?? ''),
    ]),
  );
}

async function show(context: CliContext, given: string | undefined, flags: JsonFlags): Promise<void> {
  const { output, environment } = context;
  const file = await readProfiles(environment);
  const name = given ?? (await connectionOf(environment, {})).profile;
  if (name === null) throw new UsageError('no profile is in use: name one');
  const profile = profileIn(context, file, name);
  if (flags.json === true) return output.json(viewOf(name, profile));
  const { key, operatorToken } = profile;
  output.facts([
    ['name', cell(name)],
    ['url', cell(profile.url)],
    ...(key === undefined ? [] : [['key', cell(secretText(key))] as const]),
    ...(operatorToken === undefined ? [] : [['operator token', cell(secretText(operatorToken))] as const]),
    ...(profile.tenant === undefined ? [] : [['tenant', cell(profile.tenant)] as const]),
    ['file', cell(profileFileOf(environment))],
  ]);
}

async function use(
  context: CliContext,
  name: string | undefined,
  flags: JsonFlags & { readonly none?: boolean },
): Promise<void> {
  if ((name === undefined) === (flags.none !== true))
    throw new UsageError('give the name of a profile, or --none');
  const file = await readProfiles(context.environment);
  if (name !== undefined) profileIn(context, file, name);
  await writeProfiles(context.environment, { ...file, current: name ?? null });
  if (flags.json === true) context.output.json({ current: name ?? null });
  else context.output.data(name === undefined ? 'no profile is in use' : `${name} is in use`);
}

async function remove(context: CliContext, name: string, flags: JsonFlags): Promise<void> {
  const file = await readProfiles(context.environment);
  profileIn(context, file, name);
  const rest = Object.entries(file.profiles).filter(([one]) => one !== name);
  const current = file.current === name ? null : file.current;
  await writeProfiles(context.environment, { current, profiles: Object.fromEntries(rest) });
  if (flags.json === true) context.output.json({ name });
  else context.output.data(`${name} removed`);
}

function profileIn({ environment }: CliContext, { profiles }: ProfileFile, name: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile === undefined) throw unknownProfile(environment, name, Object.keys(profiles));
  return profile;
}

/** Without secrets. */
function viewOf(name: string, { url, key, operatorToken, tenant }: Profile): Record<string, unknown> {
  return {
    name,
    url,
    key: key === undefined ? null : secretText(key),
    operator_token: operatorToken === undefined ? null : secretText(operatorToken),
    tenant: tenant ?? null,
  };
}

function credentialText({ key, operatorToken }: Profile): string {
  const parts = [
    ...(key === undefined ? [] : [`key: ${secretText(key)}`]),
    ...(operatorToken === undefined ? [] : [`operator token: ${secretText(operatorToken)}`]),
  ];
  return parts.length === 0 ? 'none' : parts.join('; ');
}
