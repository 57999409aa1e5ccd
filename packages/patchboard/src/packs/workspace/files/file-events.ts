import type { FileVersion } from '../../../core/sandbox.ts';
import type { ToolContext } from '../../../core/tools/server-tool.ts';

/** Tells whoever follows the call which file is another now. */
export function tellChange(
  context: ToolContext,
  { path, size, version }: FileVersion,
  change: 'created' | 'modified',
): void {
  context.emit('file_changed', { path, change, size, version });
}
