import { failure } from '../core/failures.ts';
import { isToolName, NAME_RULE } from '../core/tools/tool-names.ts';
import { BoardError } from './board-error.ts';

/** Throws `BoardError` with code `name_invalid`. */
export function checkName(name: unknown): asserts name is string {
  if (typeof name === 'string' && isToolName(name)) return;
  throw new BoardError(failure('name_invalid', `bad tool name: ${JSON.stringify(name)}: ${NAME_RULE}`));
}
