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

/** In the order in which they must run: what is left over can be told only after all the rest. */
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
