import type { Reason } from '@patchboard/wire';
import { isRecord, type JsonObject } from '@patchboard/wire/json';
import { problemOf } from './operation-problem.ts';
import type { Description } from './read-description.ts';

/** In the order of the specification. */
const METHODS: ReadonlySet<string> = new Set([
  'get',
  'put',
  'post',
  'delete',
  'options',
  'head',
  'patch',
  'trace',
]);

/** An operation as the description has it. */
export interface ListedOperation {
  /** Lower case. */
  readonly method: string;
  readonly path: string;
  /** The operationId; null: the description gives it none. */
  readonly id: string | null;
  readonly operation: JsonObject;
  readonly pathItem: JsonObject;
}

/** A path whose operations cannot be read. */
interface UnreadablePath {
  readonly path: string;
  readonly problem: Reason;
}

export interface OperationList {
  readonly operations: readonly ListedOperation[];
  readonly unreadable: readonly UnreadablePath[];
}

/** Lists the operations in the order of the description. What is no operation is ignored, such as `x-` members. */
export function listOperations({ document, references }: Description): OperationList {
  const operations: ListedOperation[] = [];
  const unreadable: UnreadablePath[] = [];
  for (const [path, given] of Object.entries(isRecord(document['paths']) ? document['paths'] : {})) {
    if (!path.startsWith('/')) continue;
    try {
      const pathItem = references.follow(given);
      if (isRecord(pathItem)) operations.push(...operationsOf(path, pathItem));
    } catch (error) {
      unreadable.push({ path, problem: problemOf(error) });
    }
  }
  return { operations, unreadable };
}

function operationsOf(path: string, pathItem: JsonObject): readonly ListedOperation[] {
  return Object.entries(pathItem).flatMap(([method, operation]) =>
    METHODS.has(method) && isRecord(operation)
      ? [{ method, path, id: idOf(operation), operation, pathItem }]
      : [],
  );
}

function idOf({ operationId }: JsonObject): string | null {
  return typeof operationId === 'string' && operationId.trim() !== '' ? operationId : null;
}
