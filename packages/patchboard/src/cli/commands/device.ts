import { hostname } from 'node:os';
import {
  connectDevice,
  PatchboardError,
  type Device,
  type DeviceCall,
  type DeviceTool,
} from '@patchboard/client';
import type { Command } from 'commander';
import { messageOf } from '../../core/failures.ts';
import { importFile } from '../../settings/import-file.ts';
import { connectionOf } from '../connection.ts';
import { withServerOptions, type CliContext, type ServerOptions } from '../context.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { positiveNumber } from '../flag-values.ts';
import { cell } from '../output.ts';
import type { Registrar } from '../program.ts';
import { demoTools } from './device-demo.ts';

interface DeviceFlags extends ServerOptions {
  readonly clientId?: string;
  readonly name?: string;
  readonly concurrency?: number;
}

const RUN_HELP = `
FILE is a module that exports \`tools\`: an array of
{ name, description, parameters, run(args, call) }, where parameters is a JSON
Schema. The return value of run is the result; an error that it throws is the
failure. The tools are registered while this command runs.

Example:
  $ patchboard device run ./my-tools.mjs --name workshop`;

const DEMO_HELP = `
No result is real: every one is marked as a demo. The camera requires an
operator's approval.

Example:
  $ patchboard device demo
  $ patchboard call contacts query=li`;

export function deviceCommand(context: CliContext): Registrar {
  return (program) => {
    const device = program.command('device').description('register tools of this machine, as a device');
    withDeviceOptions(device.command('demo'))
      .description('act as a demo phone with device_info, camera, contacts and sensors')
      .addHelpText('after', DEMO_HELP)
      .action((flags: DeviceFlags) => serve(context, demoTools(), { name: 'demo-phone', ...flags }));
    withDeviceOptions(device.command('run'))
      .description('register the tools of a file and run their calls')
      .argument('<file>', 'module that exports tools')
      .addHelpText('after', RUN_HELP)
      .action(async (file: string, flags: DeviceFlags) => {
        await serve(context, await loadDeviceTools(file), { name: hostname(), ...flags });
      });
  };
}

function withDeviceOptions(command: Command): Command {
  return withServerOptions(command)
    .option('--client-id <id>', 'client that the tools belong to (default: from the credential)')
    .option('--name <name>', 'name of this device, for the target of a call')
    .option(
      '--concurrency <n>',
      'number of concurrent calls (default 1: in order of arrival)',
      positiveNumber,
    );
}

/** Loads the tools that a module exports as `tools` or as its default export. */
async function loadDeviceTools(file: string): Promise<readonly DeviceTool[]> {
  let module: Record<string, unknown>;
  try {
    module = await importFile(file);
  } catch (error) {
    throw new UsageError(`${file} cannot be loaded: ${messageOf(error)}`);
  }
  const tools = module['tools'] ?? module['default'];
  if (!Array.isArray(tools) || tools.length === 0) {
    throw new UsageError(
      `${file} exports no tools: export an array \`tools\` of { name, description, parameters, run }`,
    );
  }
  for (const [index, tool] of tools.entries()) {
    if (!isDeviceTool(tool)) throw new UsageError(`${file}: tools[${index}] needs a name and a run function`);
  }
  return tools as DeviceTool[];
}

function isDeviceTool(value: unknown): value is DeviceTool {
  if (typeof value !== 'object' || value === null) return false;
  const { name, run } = value as Record<string, unknown>;
  return typeof name === 'string' && typeof run === 'function';
}

/** Serves calls until Ctrl-C. The device reconnects by itself. */
async function serve(context: CliContext, tools: readonly DeviceTool[], flags: DeviceFlags): Promise<void> {
  const { output } = context;
  const initial = new InitialRefusal();
  const device = await open(context, tools, flags, initial);
  const interrupted = new Promise<void>((resolve) => context.onInterrupt(resolve));
  try {
    await Promise.race([device.ready, interrupted, initial.rejected]);
    initial.isAwaited = false;
    if (device.state === 'online') {
      const registered = tools
        .map(({ name }) => name)
        .filter((name) => !device.rejected.some((tool) => tool.name === name));
      if (registered.length === 0) {
        context.exitWith(EXIT.toolFailed);
        output.note('the server rejected all tools');
        return;
      }
      if (flags.json === true) output.jsonLine({ lending: registered, name: flags.name });
      else
        output.data(`lending ${registered.join(', ')} as ${flags.name ?? 'a device'}; press Ctrl-C to stop`);
    }
    await interrupted;
  } finally {
    await device.close();
  }
}

/** Rejects if the server refuses the credential at the first connection. Later refusals are only reported, and the device retries. */
class InitialRefusal {
  readonly rejected: Promise<never>;
  isAwaited = true;
  reject: (error: PatchboardError) => void = () => undefined;

  constructor() {
    this.rejected = new Promise<never>((_resolve, reject) => {
      this.reject = reject;
    });
    // Prevents an unhandled rejection before `serve` awaits it.
    this.rejected.catch(() => undefined);
  }
}

const REFUSALS: readonly string[] = ['auth_required', 'permission_denied'];
const ADVICE =
  'set PATCHBOARD_KEY to a key of kind client; create one with: patchboard keys create --kind client --name NAME';

async function open(
  context: CliContext,
  tools: readonly DeviceTool[],
  flags: DeviceFlags,
  initial: InitialRefusal,
): Promise<Device> {
  const connection = await connectionOf(context.environment, flags);
  const key = (await connection.key())?.secret ?? null;
  const { output } = context;
  let isAdvised = false;
  try {
    return connectDevice(connection.url, {
      tools: tools.map((tool) => withCallLog(tool, context, flags)),
      ...(key === null ? {} : { key }),
      ...(flags.clientId === undefined ? {} : { clientId: flags.clientId }),
      ...(flags.name === undefined ? {} : { name: flags.name }),
      ...(flags.concurrency === undefined ? {} : { concurrency: flags.concurrency }),
      onProblem: ({ kind, message, code }) => {
        if (initial.isAwaited && code !== undefined && REFUSALS.includes(code))
          initial.reject(new PatchboardError('problem', message, { code, recommendations: [ADVICE] }));
        else output.note(cell(message));
        // A failed WebSocket connection has no reason, so a missing key may be one.
        if (kind === 'connection' && key === null && !isAdvised)
          output.note(`  → if the server requires keys, ${ADVICE}`);
        if (kind === 'connection') isAdvised = true;
      },
    });
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

/** Prints each call, so that the owner of the machine sees how it is used. */
function withCallLog(tool: DeviceTool, { output }: CliContext, flags: DeviceFlags): DeviceTool {
  return {
    ...tool,
    run: async (args: never, call: DeviceCall) => {
      if (flags.json === true) output.jsonLine({ tool_name: tool.name, id: call.id, args });
      else output.data(`${tool.name} ${cell(JSON.stringify(args))}`);
      return await tool.run(args, call);
    },
  };
}
