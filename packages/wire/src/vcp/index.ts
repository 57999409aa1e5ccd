export {
  argumentOfKey,
  CLOSER_SIGN,
  closerOf,
  DEFINITION_END,
  DEFINITION_START,
  findTaggedCloser,
  isMetaKey,
  keyOfArgument,
  LONGEST_OPENER,
  META_KEYS,
  OPENER_SIGN,
  openerAt,
  openerOf,
  REQUEST_END,
  REQUEST_START,
  RESULT_END,
  RESULT_START,
  VALUE_OPENER,
} from './markers.ts';
export type { ValueTag } from './markers.ts';
export { formatRequest, isArgumentName } from './request.ts';
export type { RequestToWrite } from './request.ts';
export { readValue, runsIntoField, writeShownValue } from './value.ts';
