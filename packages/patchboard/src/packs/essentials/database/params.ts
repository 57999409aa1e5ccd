import { ToolFailure, failure } from '../../../core/failures.ts';
import { isRecord } from '../../../core/json/is-record.ts';
import type { QueryParams, Scalar } from './worker/protocol.ts';

/** Reads the argument `params`: a list, an object by name, or absent. */
export function readParams(args: unknown): QueryParams {
  const given = isRecord(args) ? (args['params'] ?? []) : [];
  if (Array.isArray(given) && given.every(isScalar)) return given;
  if (isRecord(given)) {
    const entries = Object.entries(given).filter((entry): entry is [string, Scalar] => isScalar(entry[1]));
    if (entries.length === Object.keys(given).length) return Object.fromEntries(entries);
  }
  throw paramsRefused('params must be a list or an object of texts, numbers, booleans and nulls');
}

export function paramsRefused(message: string): ToolFailure {
  return new ToolFailure(failure('input_invalid', message, { issues: [{ path: '/params', message }] }));
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
