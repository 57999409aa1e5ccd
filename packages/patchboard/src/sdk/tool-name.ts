import { reason } from '@patchboard/wire';
import { failure } from '../core/failures.ts';
import { isToolName } from '../core/tools/tool-names.ts';
import { BoardError } from './board-error.ts';

/** Throws `BoardError` with code `name_invalid`. */
export function checkName(name: unknown): asserts name is string {
  if (typeof name === 'string' && isToolName(name)) return;
  throw new BoardError(
    failure('name_invalid', reason('tool_name_bad', { name: JSON.stringify(name) ?? String(name) })),
  );
}
