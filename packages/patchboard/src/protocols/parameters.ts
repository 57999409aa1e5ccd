import type { MethodMetadata, MethodParameter } from './protocol.ts';
import { isRecord } from './schema-facts.ts';

/** A parameter as a text protocol lists it; besides these, whatever its schema says. */
export interface ShownParameter {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
}

/** From the schema if the method has one, else from its list of parameters. */
export function parametersOf(method: MethodMetadata): ShownParameter[] {
  if (method.inputSchema === undefined) return (method.parameters ?? []).map(fromParameter);
  const schema = method.inputSchema;
  if (typeof schema === 'boolean' || !isRecord(schema['properties'])) return [];
  const required: unknown = schema['required'];
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  return Object.entries(schema['properties']).map(([name, property]) => {
    const rest = isRecord(property) ? property : {};
    return { ...rest, name, type: typeName(rest['type']), required: isRequired(name) };
  });
}

function fromParameter({
  name,
  type = 'string',
  required = false,
  description,
  defaultValue,
}: MethodParameter): ShownParameter {
  return {
    name,
    type,
    required,
    ...(description === undefined ? {} : { description }),
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
  };
}

function typeName(type: unknown): string {
  if (typeof type === 'string') return type;
  return Array.isArray(type) ? type.join('|') : 'any';
}
