/** A JSON Schema that is no boolean, or another JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether an applicator applies its schemas to the value itself or to its members. */
export type Reach = 'in-place' | 'child';

export interface Applicator {
  readonly holds: 'one' | 'list' | 'by-name';
  readonly reach: Reach;
}

/** The keywords of JSON Schema 2020-12 that hold schemas, without `$defs`. */
export const APPLICATORS: ReadonlyMap<string, Applicator> = new Map<string, Applicator>([
  ['allOf', { holds: 'list', reach: 'in-place' }],
  ['anyOf', { holds: 'list', reach: 'in-place' }],
  ['oneOf', { holds: 'list', reach: 'in-place' }],
  ['not', { holds: 'one', reach: 'in-place' }],
  ['if', { holds: 'one', reach: 'in-place' }],
  ['then', { holds: 'one', reach: 'in-place' }],
  ['else', { holds: 'one', reach: 'in-place' }],
  ['dependentSchemas', { holds: 'by-name', reach: 'in-place' }],
  ['properties', { holds: 'by-name', reach: 'child' }],
  ['prefixItems', { holds: 'list', reach: 'child' }],
  ['patternProperties', { holds: 'by-name', reach: 'child' }],
  ['additionalProperties', { holds: 'one', reach: 'child' }],
  ['propertyNames', { holds: 'one', reach: 'child' }],
  ['items', { holds: 'one', reach: 'child' }],
  ['contains', { holds: 'one', reach: 'child' }],
  ['unevaluatedProperties', { holds: 'one', reach: 'child' }],
  ['unevaluatedItems', { holds: 'one', reach: 'child' }],
]);
