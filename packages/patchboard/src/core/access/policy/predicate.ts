import type { PredicateView } from '@patchboard/wire';
import { valueAt } from '../../json/json-pointer.ts';
import { matchesGlob } from './glob.ts';

/** A condition on one argument; an argument that is absent fulfils none. */
export type Predicate = PredicateView;

export function holds(predicate: Predicate, args: unknown): boolean {
  const value = valueAt(args, predicate.arg);
  if (value === undefined) return false;
  if ('equals' in predicate && !isSame(value, predicate.equals)) return false;
  if (predicate.prefix !== undefined && !(typeof value === 'string' && value.startsWith(predicate.prefix)))
    return false;
  if (predicate.glob !== undefined && !(typeof value === 'string' && matchesGlob(predicate.glob, value)))
    return false;
  return inRange(predicate, value);
}

function inRange({ gt, gte, lt, lte }: Predicate, value: unknown): boolean {
  if (gt === undefined && gte === undefined && lt === undefined && lte === undefined) return true;
  if (typeof value !== 'number') return false;
  return (
    (gt === undefined || value > gt) &&
    (gte === undefined || value >= gte) &&
    (lt === undefined || value < lt) &&
    (lte === undefined || value <= lte)
  );
}

function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) &&
      isSame((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}
