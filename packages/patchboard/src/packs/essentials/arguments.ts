import { reason, reasonText } from '@patchboard/wire';
import { ToolFailure, failure } from '../../core/failures.ts';
import { isRecord } from '@patchboard/wire/json';

/** Arguments have passed the schema; this narrows the type, and throws should a schema ever be wrong. */
export function readText(args: unknown, name: string): string {
  const value = isRecord(args) ? args[name] : undefined;
  if (typeof value === 'string') return value;
  const why = reason('request_issue', { place: name, problem: [reason('must_be_string')] });
  const issue = { path: `/${name}`, message: reasonText(why), reasons: [why] };
  throw new ToolFailure(failure('input_invalid', why, { issues: [issue] }));
}
