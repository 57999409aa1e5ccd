import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError } from './cli/config-file.ts';
import { messageOf } from './core/failures.ts';
import type { Hooks } from './core/hooks.ts';

/** Hooks named in the config: each module exports `hooks`, or has them as its default export. They guard every face. */
export async function loadHooks(paths: readonly string[]): Promise<readonly Hooks[]> {
  return await Promise.all(paths.map(loadOne));
}

async function loadOne(path: string): Promise<Hooks> {
  let module: Record<string, unknown>;
  try {
    module = (await import(pathToFileURL(resolve(path)).href)) as Record<string, unknown>;
  } catch (error) {
    throw new ConfigError(`hooks: ${path} cannot be loaded: ${messageOf(error)}`);
  }
  const hooks = module['hooks'] ?? module['default'];
  if (isHooks(hooks)) return hooks;
  throw new ConfigError(`hooks: ${path} exports no hooks with preToolUse or postToolUse`);
}

function isHooks(value: unknown): value is Hooks {
  if (typeof value !== 'object' || value === null) return false;
  const { preToolUse, postToolUse } = value as Record<string, unknown>;
  const given = [preToolUse, postToolUse].filter((hook) => hook !== undefined);
  return given.length > 0 && given.every((hook) => typeof hook === 'function');
}
