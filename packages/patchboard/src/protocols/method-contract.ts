import type { JsonSchema } from '@patchboard/wire';
import { readType, type ReadType } from './parameter-type.ts';
import type { MethodMetadata, MethodParameter } from './tool-module.ts';

/** Something in the description of a method that is not understood. The method can be called all the same. */
export interface ModuleWarning {
  readonly module: string;
  readonly method: string;
  /** With the parameters around it, as in `options.paths`. */
  readonly parameter: string;
  /** As the module writes it. */
  readonly type: string;
  readonly message: string;
}

/** What stands for the method in a prompt: its own words, and its example where it has one. */
export function descriptionOf({ description = '', example = '' }: MethodMetadata): string {
  if (example.trim() === '') return description;
  return [description, `Example: ${example.trim()}`].filter((part) => part !== '').join('\n\n');
}

/** The contract of a method: text unless a parameter declares another type. */
export function schemaOfMethod(method: MethodMetadata): JsonSchema {
  if (method.inputSchema !== undefined) return method.inputSchema;
  return { ...objectOf(method.parameters ?? []), additionalProperties: false };
}

/** Required unless it says otherwise or there is something to take instead. */
export function isRequired(parameter: MethodParameter): boolean {
  const { required, defaultValue } = parameter;
  return required ?? (defaultValue === undefined && !typeOf(parameter).isOptional);
}

/** What of the types of its parameters is not understood. */
export function warningsOf(module: string, method: MethodMetadata): ModuleWarning[] {
  if (method.inputSchema !== undefined) return [];
  return unknownIn(method.parameters ?? [], '').map(({ parameter, type, unknown }) => {
    const names = unknown.map((name) => `"${name}"`).join(', ');
    const message =
      `module ${module}, method ${method.name}, parameter ${parameter}: ${names} is not a known type, any value is taken; ` +
      'list its members in "properties", or give the method an "inputSchema"';
    return { module, method: method.name, parameter, type, message };
  });
}

function unknownIn(
  parameters: readonly MethodParameter[],
  path: string,
): { parameter: string; type: string; unknown: readonly string[] }[] {
  return parameters.flatMap((parameter) => {
    const name = path + parameter.name;
    if (parameter.properties !== undefined) return unknownIn(parameter.properties, `${name}.`);
    const { unknown } = typeOf(parameter);
    return unknown.length === 0 ? [] : [{ parameter: name, type: parameter.type ?? '', unknown }];
  });
}

function typeOf({ type = 'string' }: MethodParameter): ReadType {
  return readType(type);
}

function objectOf(parameters: readonly MethodParameter[]): Readonly<Record<string, unknown>> {
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map((parameter) => [parameter.name, schemaOfParameter(parameter)]),
    ),
    required: parameters.filter(isRequired).map(({ name }) => name),
  };
}

/** `properties` say more than the name of a type: of a list, they are those of its items. */
export function schemaOfParameter(parameter: MethodParameter): Readonly<Record<string, unknown>> {
  const { description, defaultValue, properties, type = '' } = parameter;
  const members = properties === undefined ? null : objectOf(properties);
  const isList = type.trim().endsWith('[]');
  const schema =
    members === null ? typeOf(parameter).schema : isList ? { type: 'array', items: members } : members;
  return {
    ...schema,
    ...(description === undefined ? {} : { description }),
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
  };
}
