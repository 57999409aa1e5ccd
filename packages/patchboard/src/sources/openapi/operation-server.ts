import { isRecord, type JsonObject } from '@patchboard/wire/json';
import type { ListedOperation } from './operation-list.ts';
import type { Description } from './read-description.ts';

/**
 * Returns the URL of the first server of the operation, else of its path, else of the document, with the defaults of its
 * variables; undefined if there is none.
 */
export function serverOf(
  { operation, pathItem }: Pick<ListedOperation, 'operation' | 'pathItem'>,
  { document }: Pick<Description, 'document'>,
): string | undefined {
  for (const { servers } of [operation, pathItem, document]) {
    const first: unknown = Array.isArray(servers) ? servers[0] : undefined;
    if (isRecord(first) && typeof first['url'] === 'string') return filled(first['url'], first['variables']);
  }
  return undefined;
}

function filled(url: string, variables: unknown): string {
  const known: JsonObject = isRecord(variables) ? variables : {};
  return url.replaceAll(/\{([^{}]*)\}/g, (placeholder, name: string) => {
    const variable = Object.hasOwn(known, name) ? known[name] : undefined;
    const value = isRecord(variable) ? variable['default'] : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : placeholder;
  });
}
