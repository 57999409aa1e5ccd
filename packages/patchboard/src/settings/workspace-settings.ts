import { resolveWorkspace, type WorkspaceSettings } from '../wiring/sandbox-setup.ts';
import type { CommandLimits } from '../sandbox/enclosure.ts';
import { COMMAND_LIMIT_KEYS, type ConfigFile } from './config-schema.ts';
import type { Environment } from './environment.ts';

export function workspaceOf(
  { workspace = {} }: ConfigFile,
  given: Environment,
  unsafeNoSandbox: boolean,
): WorkspaceSettings {
  const { environment = [], limits = {}, ...rest } = workspace;
  const values = environment.flatMap((name): [string, string][] => {
    const value = given[name];
    return value === undefined ? [] : [[name, value]];
  });
  return resolveWorkspace({
    ...rest,
    // A server creates its folders at the first start.
    create: true,
    environment: Object.fromEntries(values),
    limits: commandLimitsOf(limits),
    unsafeNoSandbox,
    ...(given['PATH'] === undefined ? {} : { searchPath: given['PATH'] }),
  });
}

function commandLimitsOf(given: Readonly<Record<string, number>>): Partial<CommandLimits> {
  const limits: Partial<Record<keyof CommandLimits, number>> = {};
  for (const [key, value] of Object.entries(given)) {
    const name = COMMAND_LIMIT_KEYS.get(key);
    if (name !== undefined) limits[name] = value;
  }
  return limits;
}
