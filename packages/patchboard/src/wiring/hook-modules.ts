import { reasonsText } from '@patchboard/wire';
import { ConfigError } from '../settings/config-file.ts';
import { messageOf } from '../core/failures.ts';
import type { AgentHooks } from '../sdk/agent-hooks.ts';
import { hooks } from '../sdk/tool-shape.ts';
import { importFile } from '../settings/import-file.ts';

/** Loads the hook modules of the config. Each exports `hooks` or a default. The hooks apply to every API. */
export async function loadHooks(paths: readonly string[]): Promise<readonly AgentHooks[]> {
  return await Promise.all(paths.map(loadOne));
}

async function loadOne(path: string): Promise<AgentHooks> {
  let module: Record<string, unknown>;
  try {
    module = await importFile(path);
  } catch (error) {
    throw new ConfigError(`hooks: ${path} cannot be loaded: ${messageOf(error)}`);
  }
  const given = module['hooks'] ?? module['default'];
  if (given === undefined || given === null)
    throw new ConfigError(`hooks: ${path} exports no hooks with preToolUse or postToolUse`);
  const problem = hooks(given, 'hooks');
  if (problem === null) return given;
  throw new ConfigError(`hooks: ${path}: ${reasonsText(problem)}`);
}
