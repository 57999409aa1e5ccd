import { reason, reasonText, type Reason } from '@patchboard/wire';
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
  throw paramsRefused(reason('sql_params_form'));
}

export function paramsRefused(why: Reason): ToolFailure {
  const issue = { path: '/params', message: reasonText(why), reasons: [why] };
  return new ToolFailure(failure('input_invalid', why, { issues: [issue] }));
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
