import { withServerOptions, type CliContext, type ServerOptions } from '../context.ts';
import { asOperator } from '../operator-client.ts';
import type { Registrar } from '../program.ts';

const HELP = `
The link opens one browser session of the operator. It is valid once, for one
hour. The command needs the operator token of the server's data folder
(PATCHBOARD_DATA, default ./.patchboard); a key is not sufficient.

Example:
  $ patchboard login`;

export function loginCommand(context: CliContext): Registrar {
  return (program) => {
    withServerOptions(program.command('login'))
      .description('print a one-time link that signs a browser in as operator')
      .addHelpText('after', HELP)
      .action((flags: ServerOptions) => login(context, flags));
  };
}

async function login(context: CliContext, flags: ServerOptions): Promise<void> {
  const { output } = context;
  await asOperator(context, flags, async (client, { url }) => {
    const link = await client.loginLink();
    const address = `${new URL(url).origin}${link.url_path}`;
    if (flags.json === true) return output.json({ url: address, expires_in_s: link.expires_in_s });
    output.data(address);
    output.note(`valid once, for ${Math.floor(link.expires_in_s / 60)} minutes`);
  });
}
