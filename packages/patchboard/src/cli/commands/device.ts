import { hostname } from 'node:os';
import {
  connectDevice,
  PatchboardError,
  type Device,
  type DeviceCall,
  type DeviceTool,
} from '@patchboard/client';
import { InvalidArgumentError, type Command } from 'commander';
import { clientSettings } from '../../settings/environment.ts';
import { withServerOptions, type CliContext, type ServerOptions } from '../context.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { cell } from '../output.ts';
import type { Registrar } from '../program.ts';
import { demoTools } from './device-demo.ts';
import { loadDeviceTools } from './device-file.ts';

interface DeviceFlags extends ServerOptions {
  readonly clientId?: string;
  readonly name?: string;
  readonly concurrency?: number;
}

const RUN_HELP = `
FILE is a module that exports \`tools\`: a list of
{ name, description, parameters, run(args, call) }, where parameters is a JSON
Schema. What run returns is the result, what it throws the failure. The tools
are there for as long as this runs.

Example:
  $ patchboard device run ./my-tools.mjs --name workshop`;

const DEMO_HELP = `
Nothing it says is real: every result is marked as a demo. The camera asks an
operator first.

Example:
  $ patchboard device demo
  $ patchboard call contacts query=li`;

export function deviceCommand(context: CliContext): Registrar {
  return (program) => {
    const device = program.command('device').description('lend tools from this machine, as a device');
    withDeviceOptions(device.command('demo'))
      .description('be a demo phone with device_info, camera, contacts and sensors')
      .addHelpText('after', DEMO_HELP)
      .action((flags: DeviceFlags) => serve(context, demoTools(), { name: 'demo-phone', ...flags }));
    withDeviceOptions(device.command('run'))
      .description('lend the tools of a file')
      .argument('<file>', 'module that exports tools')
      .addHelpText('after', RUN_HELP)
      .action(async (file: string, flags: DeviceFlags) => {
        await serve(context, await loadDeviceTools(file), { name: hostname(), ...flags });
      });
  };
}

function withDeviceOptions(command: Command): Command {
  return withServerOptions(command)
    .option('--client-id <id>', 'whose tools these are (default: the credential says)')
    .option('--name <name>', 'name of this device, which a call can have as its target')
    .option('--concurrency <n>', 'calls that run at once (default 1: in the order they come)', wholeNumber);
}

function wholeNumber(given: string): number {
  const value = Number(given);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError('It takes a positive whole number.');
  return value;
}

/** Until Ctrl-C; the connection comes and goes meanwhile. */
async function serve(context: CliContext, tools: readonly DeviceTool[], flags: DeviceFlags): Promise<void> {
  const { output } = context;
  const first = new FirstRefusal();
  const device = open(context, tools, flags, first);
  const interrupted = new Promise<void>((resolve) => context.onInterrupt(resolve));
  try {
    await Promise.race([device.ready, interrupted, first.came]);
    first.isAwaited = false;
    if (device.state === 'online') {
      const lent = tools
        .map(({ name }) => name)
        .filter((name) => !device.rejected.some((tool) => tool.name === name));
      if (lent.length === 0) {
        context.exitWith(EXIT.toolFailed);
        output.note('the server took none of the tools');
        return;
      }
      if (flags.json === true) output.jsonLine({ lending: lent, name: flags.name });
      else output.data(`lending ${lent.join(', ')} as ${flags.name ?? 'a device'}; end with Ctrl-C`);
    }
    await interrupted;
  } finally {
    await device.close();
  }
}

/** A device goes on trying; a person who has just typed the command has the wrong key in hand. */
class FirstRefusal {
  readonly came: Promise<never>;
  isAwaited = true;
  reject: (error: PatchboardError) => void = () => undefined;

  constructor() {
    this.came = new Promise<never>((_resolve, reject) => {
      this.reject = reject;
    });
    // Where it comes while nobody waits yet, it is no failure of the process.
    this.came.catch(() => undefined);
  }
}

const REFUSALS: readonly string[] = ['auth_required', 'permission_denied'];
const ADVICE =
  'set PATCHBOARD_KEY to a key of a client; make one with: patchboard keys create --kind client --name NAME';

function open(
  context: CliContext,
  tools: readonly DeviceTool[],
  flags: DeviceFlags,
  first: FirstRefusal,
): Device {
  const { url, key } = clientSettings(context.environment);
  const { output } = context;
  let isAdvised = false;
  try {
    return connectDevice(flags.url ?? url, {
      tools: tools.map((tool) => announced(tool, context, flags)),
      ...(key === null ? {} : { key }),
      ...(flags.clientId === undefined ? {} : { clientId: flags.clientId }),
      ...(flags.name === undefined ? {} : { name: flags.name }),
      ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
      onProblem: ({ kind, message, code }) => {
        if (first.isAwaited && code !== undefined && REFUSALS.includes(code))
          first.reject(new PatchboardError('problem', message, { code, recommendations: [ADVICE] }));
        else output.note(cell(message));
        // A socket does not say why it was not opened.
        if (kind === 'connection' && key === null && !isAdvised)
          output.note(`  → where keys are needed, ${ADVICE}`);
        if (kind === 'connection') isAdvised = true;
      },
    });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

/** Says of each call that it runs: whoever lends a machine should see what it is used for. */
function announced(tool: DeviceTool, { output }: CliContext, flags: DeviceFlags): DeviceTool {
  return {
    ...tool,
    run: async (args: never, call: DeviceCall) => {
      if (flags.json === true) output.jsonLine({ tool_name: tool.name, id: call.id, args });
      else output.data(`${tool.name} ${cell(JSON.stringify(args))}`);
      return await tool.run(args, call);
    },
  };
}
