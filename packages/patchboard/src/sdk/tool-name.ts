import { reason } from '@patchboard/wire';
import { failure } from '../core/failures.ts';
import { isReservedName, isToolName } from '../core/tools/tool-names.ts';
import { BoardError } from './board-error.ts';

/** Throws `BoardError` with code `name_invalid`. */
export function checkName(name: unknown): asserts name is string {
  const problem =
    typeof name !== 'string' || !isToolName(name)
      ? reason('tool_name_bad', { name: JSON.stringify(name) ?? String(name) })
      : isReservedName(name)
        ? reason('name_prefix_reserved', { name })
        : null;
  if (problem !== null) throw new BoardError(failure('name_invalid', problem));
}
