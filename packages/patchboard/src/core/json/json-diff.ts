import { pointerTo, isRecord } from '@patchboard/wire/json';

/** One difference between two JSON values. `before` is absent for an added member, `after` for a removed one. */
export interface JsonChange {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Compares members by name, and arrays as a whole, so that a moved item stays readable. */
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
