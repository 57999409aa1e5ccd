import type { JsonSchema } from '@patchboard/wire';
import {
  schemaOfMethod,
  type MethodMetadata,
  type MethodParameter,
  type ToolDefinitionInput,
} from '../core/tools/tool-module.ts';
import { isRecord } from '../core/json/is-record.ts';

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

/** A method as vendors with tool calls of their own take it. */
export interface OfferedTool {
  readonly name: string;
  readonly wireName: string;
  readonly description: string;
  readonly schema: JsonSchema;
}

export function offeredTools(input: readonly ToolDefinitionInput[]): OfferedTool[] {
  return input.flatMap(({ toolId, methods }) =>
    methods.map((method) => {
      const name = method.registeredName ?? `${toolId}_${method.name}`;
      return {
        name,
        wireName: method.wireName ?? name,
        description: method.description ?? '',
        schema: schemaOfMethod(method),
      };
    }),
  );
}
