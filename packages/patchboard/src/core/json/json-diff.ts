import { pointerTo } from './json-pointer.ts';
import { isRecord } from './is-record.ts';

/** One place where two JSON values differ. `before` or `after` is absent where there was nothing. */
export interface JsonChange {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Members are compared by name, arrays as a whole: a moved item is easier to read that way. */
export function jsonDiff(before: unknown, after: unknown, path = ''): JsonChange[] {
  if (isRecord(before) && isRecord(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => {
      const place = pointerTo(path, key);
      if (!Object.hasOwn(before, key)) return [{ path: place, after: after[key] }];
      if (!Object.hasOwn(after, key)) return [{ path: place, before: before[key] }];
      return jsonDiff(before[key], after[key], place);
    });
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
}
