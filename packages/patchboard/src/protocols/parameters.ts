import { hash } from 'node:crypto';
import type { JsonSchema } from '@patchboard/wire';
import type { Digest } from '../core/ports.ts';
import { descriptionOf, isRequired, schemaOfMethod, schemaOfParameter } from './method-contract.ts';
import type { MethodMetadata, MethodParameter, ToolDefinitionInput } from './tool-module.ts';
import { toWireName } from '../core/tools/tool-names.ts';
import { isRecord } from '@patchboard/wire/json';

/** A parameter as a text protocol lists it, together with the other members of its schema. */
export interface ShownParameter {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
}

/** Reads the parameters from the schema if the method has one, else from its parameter list. */
export function parametersOf(method: MethodMetadata): ShownParameter[] {
  if (method.inputSchema === undefined) return (method.parameters ?? []).map(fromParameter);
  const schema = method.inputSchema;
  if (typeof schema === 'boolean' || !isRecord(schema['properties'])) return [];
  const required: unknown = schema['required'];
  const isNeeded = (name: string): boolean => Array.isArray(required) && required.includes(name);
  return Object.entries(schema['properties']).map(([name, property]) => {
    const rest = isRecord(property) ? property : {};
    return { ...rest, name, type: typeName(rest['type']), required: isNeeded(name) };
  });
}

/** Keeps the type as the module writes it, which is more specific than a schema that accepts any value. */
function fromParameter(parameter: MethodParameter): ShownParameter {
  const { name, type = 'string', properties } = parameter;
  const { description, default: defaultValue } = schemaOfParameter(parameter);
  return {
    name,
    type,
    required: isRequired(parameter),
    ...(description === undefined ? {} : { description }),
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
    ...(properties === undefined ? {} : { properties: properties.map(fromParameter) }),
  };
}

function typeName(type: unknown): string {
  if (typeof type === 'string') return type;
  return Array.isArray(type) ? type.join('|') : 'any';
}

/** A method as offered to vendors with native tool calls. */
export interface OfferedTool {
  readonly name: string;
  readonly wireName: string;
  readonly description: string;
  readonly schema: JsonSchema;
}

/**
 * Returns each tool under a name that vendors accept: its wire name if it has one, else the wire name that a registry
 * would give it among the tools of `input`.
 */
export function offeredTools(input: readonly ToolDefinitionInput[]): OfferedTool[] {
  const methods = input.flatMap(({ toolId, methods: all }) =>
    all.map((method) => ({ method, name: method.registeredName ?? `${toolId}_${method.name}` })),
  );
  const taken = new Set(methods.flatMap(({ method: { wireName }, name }) => [name, wireName ?? name]));
  return methods.map(({ method, name }) => {
    const wireName = method.wireName ?? toWireName(name, (free) => free === name || !taken.has(free), DIGEST);
    taken.add(wireName);
    return {
      name,
      wireName,
      description: descriptionOf(method),
      schema: schemaOfMethod(method),
    };
  });
}

const DIGEST: Digest = { sha256: (text) => hash('sha256', text, 'hex') };
