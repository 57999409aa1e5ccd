import type { JsonSchema } from '@patchboard/wire';
import { shapeOf, type Property } from './field-shape.ts';

/** Initial JSON text for a value that is being set. */
export function startOf(schema: JsonSchema, root: JsonSchema): string {
  const { control, defaultSource } = shapeOf(schema, root);
  if (defaultSource !== undefined) return defaultSource;
  switch (control.kind) {
    case 'object':
      return JSON.stringify(Object.fromEntries(fixedProperties(control.properties, root)));
    case 'array':
      return '[]';
    case 'string':
      return '""';
    case 'number':
      return '0';
    case 'boolean':
      return 'false';
    case 'choice':
      return JSON.stringify(control.values[0] ?? null);
    case 'variants':
      return startOf(control.variants[0]?.schema ?? true, root);
    case 'any':
      return 'null';
  }
}

/** Required properties with a constant value are filled in. */
function fixedProperties(properties: readonly Property[], root: JsonSchema): [string, unknown][] {
  return properties.flatMap(({ name, schema, isRequired }): [string, unknown][] => {
    const { control } = shapeOf(schema, root);
    const isFixed = control.kind === 'choice' && control.values.length === 1;
    return isFixed && isRequired ? [[name, control.values[0]]] : [];
  });
}

/** Initial JSON text for a whole value: the defaults and constants of its properties. */
export function prefilledOf(root: JsonSchema): string {
  const { control } = shapeOf(root, root);
  if (control.kind !== 'object') return startOf(root, root);
  const defaults = control.properties.flatMap(({ name, schema }): [string, unknown][] => {
    const { defaultSource } = shapeOf(schema, root);
    return defaultSource === undefined ? [] : [[name, JSON.parse(defaultSource) as unknown]];
  });
  const values = Object.fromEntries([...fixedProperties(control.properties, root), ...defaults]);
  return JSON.stringify(values, null, 2);
}
