import type { GrantView } from '@patchboard/wire';
import type { CliContext } from '../context.ts';
import { createdSince, SINCE } from '../duration.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import { cell } from '../output.ts';
import type { Registrar } from '../program.ts';

interface ListFlags extends OperatorOptions {
  readonly since?: string;
}

export function grantsCommand(context: CliContext): Registrar {
  return (program) => {
    const grants = program
      .command('grants')
      .description('grants: permissions for calls that would otherwise require approval');
    withOperatorOptions(grants.command('ls', { isDefault: true }))
      .description('list grants (default)')
      .option('--since <time>', `only those created ${SINCE}`)
      .addHelpText(
        'after',
        '\nCreate a grant with: patchboard approve --always exact|tool\n\nExample:\n  $ patchboard grants ls',
      )
      .action((flags: ListFlags) => list(context, flags));
    withOperatorOptions(grants.command('revoke'))
      .description('revoke a grant; its calls require approval again')
      .argument('<id>', 'id of the grant, as grants ls shows it')
      .addHelpText('after', '\nExample:\n  $ patchboard grants revoke gr_…')
      .action((id: string, flags: OperatorOptions) => revoke(context, id, flags));
  };
}

async function list(context: CliContext, flags: ListFlags): Promise<void> {
  const { output } = context;
  const isSince = createdSince(flags.since, Date.now());
  const grants = await asOperator(context, flags, async (client) => {
    const all: GrantView[] = [];
    for await (const grant of client.grants.list()) if (isSince(grant)) all.push(grant);
    return all;
  });
  if (flags.json === true) return output.json({ grants });
  if (grants.length === 0) return output.note('no grants');
  output.table(
    [
      { title: 'ID' },
      { title: 'TOOL' },
      { title: 'AGENT' },
      { title: 'FOR' },
      { title: 'GIVEN BY', flexible: true },
      { title: 'EXPIRES' },
    ],
    grants.map((grant) => [
      cell(grant.grant_id),
      cell(grant.tool_name),
      grant.agent_id === null ? 'any' : cell(grant.agent_id),
      scopeText(grant),
      cell(grant.created_by),
      cell(grant.expires_at ?? 'never'),
    ]),
  );
}

function scopeText({ scope, when, args_sha256: sha256 }: GrantView): string {
  switch (scope) {
    case 'tool':
      return 'any arguments';
    case 'exact':
      return `arguments ${cell((sha256 ?? '').slice(0, 12))}…`;
    case 'predicate':
      return cell(JSON.stringify(when));
    default:
      return cell(String(scope));
  }
}

async function revoke(context: CliContext, id: string, flags: OperatorOptions): Promise<void> {
  const grant = await asOperator(context, flags, (client) => client.grants.revoke(id));
  if (flags.json === true) context.output.json(grant);
  else context.output.data(`${cell(grant.grant_id)} revoked (${cell(grant.tool_name)})`);
}
