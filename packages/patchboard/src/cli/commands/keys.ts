import { KEY_KINDS, type KeyKindName } from '@patchboard/wire';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { EXPIRY_RULE, isSaneExpiry } from '../../core/access/expiry.ts';
import { isScope, SCOPES, type Scope } from '../../core/access/scopes.ts';
import { suggesting } from '../completion/suggestions.ts';
import { isConfirmed } from '../confirm.ts';
import type { CliContext } from '../context.ts';
import { createdSince, futureMoment, SINCE } from '../duration.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { throwIfInvalidId } from '../invalid-id.ts';
import { withKeyBackend, type KeyOptions, type WantedKey } from '../key-backend.ts';
import { FIRST_KEY_QUESTION, LOCAL_MODE_ENDS, LOCAL_MODE_STAYS_OFF } from '../local-mode.ts';
import { withOperatorOptions } from '../operator-client.ts';
import { cell, keepColumns } from '../output.ts';
import type { Registrar } from '../program.ts';
import { withDatabaseFlags } from '../store-location.ts';

interface CreateFlags extends KeyOptions {
  readonly kind: KeyKindName;
  readonly name: string;
  readonly scope?: readonly Scope[];
  readonly expires?: string;
  readonly yes?: boolean;
}

interface ListFlags extends KeyOptions {
  readonly since?: string;
}

const WHERE = `
The command uses the server at --url. If that is not reachable and its address
is on this machine, the command uses the store directly: the database of
--database or DATABASE_URL, otherwise the data folder (PATCHBOARD_DATA, default
./.patchboard). Changes work only while no server uses the store.`;

const FIRST_KEY = `
The first key ends local mode: requests without a credential are refused from
then on. On a terminal the command asks first; it does not ask if the secret
goes to a file, a pipe or a variable.`;

export function keysCommand(context: CliContext): Registrar {
  return (program) => {
    const keys = program
      .command('keys')
      .description('manage the keys of agents, clients, services and operators');
    registerCreate(keys, context);
    withKeyOptions(keys.command('ls', { isDefault: true }))
      .description('list the valid keys, without their secrets (default)')
      .option('--since <time>', `only those created ${SINCE}`)
      .addHelpText('after', `${WHERE}\n\nExample:\n  $ patchboard keys ls`)
      .action((flags: ListFlags) => list(context, flags));
    withKeyOptions(keys.command('revoke'))
      .description('revoke a key, with immediate effect')
      .argument('<id>', 'id of the key, as keys ls shows it')
      .addHelpText('after', `${WHERE}\n\nExample:\n  $ patchboard keys revoke key_…`)
      .action((id: string, flags: KeyOptions) => revoke(context, id, flags));
  };
}

function withKeyOptions(command: Command): Command {
  return withDatabaseFlags(withOperatorOptions(command), 'without a server, use the keys');
}

function registerCreate(keys: Command, context: CliContext): void {
  withKeyOptions(keys.command('create'))
    .description('create a key; the secret is printed only now')
    .addOption(new Option('--kind <kind>', 'kind of principal').choices(KEY_KINDS).makeOptionMandatory(true))
    .requiredOption('--name <name>', 'name of the agent, client, service or operator')
    .addOption(
      suggesting(
        new Option('--scope <scope>', `scope of the key, repeatable (${SCOPES.join(', ')})`).argParser(
          addScope,
        ),
        SCOPES,
      ),
    )
    .option('--expires <when>', 'a duration such as 30d, or RFC 3339 (default: never)')
    .option('-y, --yes', 'do not ask for confirmation of the first key')
    .addHelpText(
      'after',
      `\nStdout contains only the secret.\n${FIRST_KEY}\n${WHERE}\n\nExamples:\n` +
        '  $ KEY=$(patchboard keys create --kind agent --name researcher --expires 30d)\n' +
        '  $ patchboard keys create --kind operator --name ci --scope approvals:decide',
    )
    .action((flags: CreateFlags) => create(context, flags));
}

function addScope(given: string, before: readonly Scope[] = []): readonly Scope[] {
  if (!isScope(given)) throw new InvalidArgumentError(`It must be one of ${SCOPES.join(', ')}.`);
  return [...before, given];
}

function expiryOf(given: string, now: number): number {
  const expiresAt = futureMoment('--expires', given, now);
  if (isSaneExpiry(expiresAt, now)) return expiresAt;
  throw new UsageError(`--expires: ${given} must be ${EXPIRY_RULE}; omit it for a key that does not expire`);
}

async function create(context: CliContext, flags: CreateFlags): Promise<void> {
  const { output } = context;
  throwIfInvalidId('--name', flags.name);
  const wanted: WantedKey = {
    kind: flags.kind,
    name: flags.name,
    scopes: flags.scope ?? null,
    expiresAt: flags.expires === undefined ? null : expiryOf(flags.expires, Date.now()),
  };
  await withKeyBackend(context, flags, true, async (backend) => {
    if (
      asks(context, flags) &&
      (await backend.wouldEndLocalMode()) &&
      !(await acceptsEndOfLocalMode(context))
    ) {
      output.note('no key was created');
      return context.exitWith(EXIT.usage);
    }
    const { key, endsLocalMode } = await backend.create(wanted);
    if (flags.json === true) output.json(key);
    else output.data(key.key);
    const until = key.expires_at === null ? 'until it is revoked' : `until ${key.expires_at}`;
    output.note(`${key.key_id}: ${key.kind} ${key.name}, ${key.scopes.join(' ')}, ${until}`);
    output.note('The secret is not stored and cannot be shown again.');
    if (endsLocalMode) output.note(LOCAL_MODE_ENDS);
  });
}

/** Asks only where a person reads the secret too: a script that stores it works as before there was a question. */
function asks({ canAsk, isTerminal }: CliContext, { yes, json }: CreateFlags): boolean {
  return canAsk && isTerminal && yes !== true && json !== true;
}

async function acceptsEndOfLocalMode(context: CliContext): Promise<boolean> {
  for (const line of FIRST_KEY_QUESTION) context.output.note(line);
  return await isConfirmed(context, 'Create the key?');
}

async function list(context: CliContext, flags: ListFlags): Promise<void> {
  const { output } = context;
  const isSince = createdSince(flags.since, Date.now());
  const all = await withKeyBackend(context, flags, false, (backend) => backend.list());
  const keys = all.filter(isSince);
  if (flags.json === true) return output.json({ keys });
  if (keys.length === 0) return output.note('no keys');
  output.table(
    keepColumns(new Set(flags.since === undefined ? [] : ['CREATED']), [
      { title: 'ID' },
      { title: 'KIND' },
      { title: 'NAME' },
      { title: 'SECRET', dropOrder: 1 },
      { title: 'CREATED', dropOrder: 2 },
      { title: 'EXPIRES' },
      { title: 'LAST USED' },
      { title: 'SCOPES', flexible: true },
    ]),
    keys.map((key) => [
      cell(key.key_id),
      cell(key.kind),
      cell(key.name),
      `${cell(key.hint)}…`,
      cell(key.created_at),
      cell(key.expires_at ?? 'never'),
      cell(key.last_used_at === undefined ? '' : (key.last_used_at ?? 'never')),
      cell(key.scopes.join(' ')),
    ]),
  );
}

async function revoke(context: CliContext, id: string, flags: KeyOptions): Promise<void> {
  const { output } = context;
  await withKeyBackend(context, flags, false, async (backend) => {
    const { key, wasLast } = await backend.revoke(id);
    if (flags.json === true) output.json(key);
    else output.data(`${cell(key.key_id)} revoked (${cell(key.kind)} ${cell(key.name)})`);
    if (wasLast) output.note(LOCAL_MODE_STAYS_OFF);
  });
}
