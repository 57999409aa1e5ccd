import { upstreamToolName } from '../shared/tool-names.ts';
import type { ListedOperation } from './operation-list.ts';

type Named = Pick<ListedOperation, 'id' | 'method' | 'path'>;

export interface OperationNames {
  /** The name of the tool: `<upstream>.<operationId>`, else of method and path, such as `shop.get_pets_petId`. */
  readonly tool: string;
  /** The name without the prefix. */
  readonly own: string;
  /** What a pattern can match: the name without the prefix, method and path, and the operationId. */
  readonly spellings: readonly string[];
}

export function operationNames(upstream: string, named: Named): OperationNames {
  const tool = upstreamToolName(upstream, named.id?.trim() ?? pathName(named.method, named.path));
  const own = tool.slice(upstream.length + 1);
  const spellings = [own, operationAddress(named)];
  return {
    tool,
    own,
    spellings: named.id === null || named.id === own ? spellings : [...spellings, named.id],
  };
}

/** Returns a name for a path without its braces. `method` may be empty. */
export function pathName(method: string, path: string): string {
  const segments = path.replaceAll(/[{}]/g, '').split('/');
  return [method, ...segments].filter((part) => part !== '').join('_');
}

/** Returns the operation in the words of the description: its method and path. */
export function operationAddress({ method, path }: Named): string {
  return `${method.toUpperCase()} ${path}`;
}

/** Returns a pattern for operations with the same beginning: up to the first separator, else the name itself. */
export function groupPattern(name: string): string {
  const beginning = /^[^_.-]+[_.-]/.exec(name)?.[0];
  return beginning === undefined ? name : `${beginning}*`;
}
