import type { TenantRateView, TenantView } from '@patchboard/wire';
import { InvalidArgumentError, type Command } from 'commander';
import type { CliContext } from '../context.ts';
import { addText } from '../flag-values.ts';
import { throwIfInvalidId } from '../invalid-id.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import { cell } from '../output.ts';
import type { Registrar } from '../program.ts';

interface SetFlags extends OperatorOptions {
  readonly site?: readonly string[];
  readonly pack?: readonly string[];
  readonly calls?: TenantRateView;
  readonly tool?: Readonly<Record<string, TenantRateView>>;
}

export function tenantsCommand(context: CliContext): Registrar {
  return (program) => {
    const tenants = program.command('tenants').description('manage sites, packs and limits of tenants');
    withOperatorOptions(tenants.command('ls', { isDefault: true }))
      .description('list the tenants with settings (default)')
      .addHelpText('after', '\nExample:\n  $ patchboard tenants ls')
      .action((flags: OperatorOptions) => list(context, flags));
    registerSet(tenants, context);
    withOperatorOptions(tenants.command('rm'))
      .description('remove the settings of a tenant; those of the config apply again')
      .argument('<id>', 'id of the tenant')
      .addHelpText('after', '\nExample:\n  $ patchboard tenants rm acme')
      .action((id: string, flags: OperatorOptions) => remove(context, id, flags));
  };
}

function registerSet(tenants: Command, context: CliContext): void {
  withOperatorOptions(tenants.command('set'))
    .description('replace all settings of a tenant; options left out get their defaults')
    .argument('<id>', 'id of the tenant')
    .option('--site <id>', 'a site of the tenant, repeatable (default: any)', addText)
    .option('--pack <name>', 'a pack of the tenant, repeatable (default: the default packs)', addText)
    .option('--calls <rate>', 'rate limit for calls: BURST/PER_SECOND, such as 100/50', rateIn)
    .option('--tool <rate>', 'rate limit for a tool, such as search_content=20/5, repeatable', addToolRate)
    .addHelpText(
      'after',
      '\nCreate a key of the tenant with:\n  patchboard keys create --tenant ID --kind service --name NAME\n\nExample:\n' +
        '  $ patchboard tenants set acme --site old-town --pack heritage --calls 100/50',
    )
    .action((id: string, flags: SetFlags) => set(context, id, flags));
}

function rateIn(given: string): TenantRateView {
  const [, burst, perSecond] = /^(\d{1,9})\/(\d{1,9}(?:\.\d{1,6})?)$/.exec(given) ?? [];
  if (burst === undefined || Number(burst) === 0 || Number(perSecond) === 0)
    throw new InvalidArgumentError('It must be BURST/PER_SECOND, two numbers above 0, such as 100/50.');
  return { burst: Number(burst), per_second: Number(perSecond) };
}

function addToolRate(
  given: string,
  before: Readonly<Record<string, TenantRateView>> = {},
): Readonly<Record<string, TenantRateView>> {
  const equals = given.lastIndexOf('=');
  if (equals < 1)
    throw new InvalidArgumentError('It must be a tool and a rate, such as search_content=20/5.');
  return { ...before, [given.slice(0, equals)]: rateIn(given.slice(equals + 1)) };
}

async function set(context: CliContext, id: string, flags: SetFlags): Promise<void> {
  throwIfInvalidId('a tenant id', id);
  const { site, pack, calls, tool } = flags;
  const limits = {
    ...(calls === undefined ? {} : { calls }),
    ...(tool === undefined ? {} : { tools: tool }),
  };
  const tenant = await asOperator(context, flags, (client) =>
    client.tenants.replace(id, {
      ...(site === undefined ? {} : { sites: site }),
      ...(pack === undefined ? {} : { packs: pack }),
      limits,
    }),
  );
  show(context, flags, [tenant]);
}

async function list(context: CliContext, flags: OperatorOptions): Promise<void> {
  show(context, flags, await asOperator(context, flags, (client) => client.tenants.list()));
}

async function remove(context: CliContext, id: string, flags: OperatorOptions): Promise<void> {
  await asOperator(context, flags, (client) => client.tenants.forget(id));
  if (flags.json === true) context.output.json({ tenant_id: id });
  else context.output.data(`${cell(id)} removed`);
}

function show({ output }: CliContext, flags: OperatorOptions, tenants: readonly TenantView[]): void {
  if (flags.json === true) return output.json({ tenants });
  if (tenants.length === 0) return output.note('no tenant has settings');
  output.table(
    [
      { title: 'TENANT' },
      { title: 'SITES' },
      { title: 'PACKS' },
      { title: 'LIMITS', flexible: true },
      { title: 'SET BY' },
    ],
    tenants.map((tenant) => [
      cell(tenant.tenant_id),
      cell(tenant.sites?.join(' ') ?? 'any'),
      cell(tenant.packs?.join(' ') ?? 'default'),
      cell(limitsText(tenant)),
      cell(tenant.source),
    ]),
  );
}

function limitsText({ limits: { calls, tools = {} } }: TenantView): string {
  const rate = (given: TenantRateView): string => `${given.burst}/${given.per_second}`;
  return [
    ...(calls === undefined ? [] : [rate(calls)]),
    ...Object.entries(tools).map(([name, given]) => `${name}=${rate(given)}`),
  ].join(' ');
}
