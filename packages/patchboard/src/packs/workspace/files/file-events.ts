import type { FileVersion } from '../../../core/sandbox.ts';
import type { ToolContext } from '../../../core/tools/server-tool.ts';

/** Emits the event `file_changed` of the call. */
export function emitFileChange(
  context: ToolContext,
  { path, size, version }: FileVersion,
  change: 'created' | 'modified',
): void {
  context.emit('file_changed', { path, change, size, version });
}
