import type { ApprovalRequestView } from '@patchboard/wire';
import type { CliContext } from '../context.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import type { Registrar } from '../program.ts';
import { listWaiting } from './decide.ts';

export function inboxCommand(context: CliContext): Registrar {
  return (program) => {
    withOperatorOptions(program.command('inbox'))
      .description('calls that wait for you, live; keys decide')
      .action((flags: OperatorOptions) => inbox(context, flags));
  };
}

async function inbox(context: CliContext, flags: OperatorOptions): Promise<void> {
  const waiting: ApprovalRequestView[] = [];
  await asOperator(context, flags, async (client) => {
    for await (const request of client.approvals({ limit: 200 })) waiting.push(request);
  });
  listWaiting(context.output, waiting, flags);
}
