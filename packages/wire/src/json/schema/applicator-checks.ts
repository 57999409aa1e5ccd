import type { CheckMaker } from './applicator-context.ts';
import {
  checkAllOf,
  checkAnyOf,
  checkDependentSchemas,
  checkIf,
  checkNot,
  checkOneOf,
} from './in-place-checks.ts';
import { checkContains, checkItems, checkPrefixItems, checkUnevaluatedItems } from './item-checks.ts';
import {
  checkAdditionalProperties,
  checkPatternProperties,
  checkProperties,
  checkPropertyNames,
  checkUnevaluatedProperties,
} from './property-checks.ts';

/** In order of execution: the `unevaluated` keywords need the results of all others and come last. */
export const APPLICATOR_CHECKS: ReadonlyMap<string, CheckMaker> = new Map<string, CheckMaker>([
  ['allOf', checkAllOf],
  ['anyOf', checkAnyOf],
  ['oneOf', checkOneOf],
  ['not', checkNot],
  ['if', checkIf],
  ['dependentSchemas', checkDependentSchemas],
  ['properties', checkProperties],
  ['patternProperties', checkPatternProperties],
  ['additionalProperties', checkAdditionalProperties],
  ['propertyNames', checkPropertyNames],
  ['prefixItems', checkPrefixItems],
  ['items', checkItems],
  ['contains', checkContains],
  ['unevaluatedProperties', checkUnevaluatedProperties],
  ['unevaluatedItems', checkUnevaluatedItems],
]);
