import type { ListedOperation } from './operation-list.ts';

type Named = Pick<ListedOperation, 'id' | 'method' | 'path'>;

/**
 * Returns the part of the tool's name after the prefix: the operationId, else method and path, such as
 * `get_pets_petId`. Other characters become `_`.
 */
export function operationName({ id, method, path }: Named): string {
  if (id !== null) return withoutOthers(id.trim());
  const segments = path.split('/').map((segment) => withoutOthers(segment.replaceAll(/[{}]/g, '')));
  return [method, ...segments.filter((segment) => segment !== '')].join('_');
}

/** Returns the operation in the words of the description: its method and path. Patterns can name it so, too. */
export function operationAddress({ method, path }: Named): string {
  return `${method.toUpperCase()} ${path}`;
}

function withoutOthers(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_.-]/g, '_');
}

/** Returns the texts that a pattern can match: the name, the operationId, and method and path, such as `GET /pets/{petId}`. */
export function operationSpellings(named: Named): readonly string[] {
  const name = operationName(named);
  const spellings = [name, operationAddress(named)];
  return named.id === null || named.id === name ? spellings : [...spellings, named.id];
}

/** Returns a pattern for operations with the same beginning: up to the first separator, else the name itself. */
export function groupPattern(name: string): string {
  const beginning = /^[^_.-]+[_.-]/.exec(name)?.[0];
  return beginning === undefined ? name : `${beginning}*`;
}
