import type { DeviceTool } from '@patchboard/client';
import { messageOf } from '../../core/failures.ts';
import { UsageError } from '../exit-codes.ts';
import { importFile } from '../../settings/import-file.ts';

/** Loads the tools that a module exports as `tools` or as its default export. */
export async function loadDeviceTools(file: string): Promise<readonly DeviceTool[]> {
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
