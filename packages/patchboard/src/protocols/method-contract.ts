import type { JsonSchema } from '@patchboard/wire';
import { readType, type ReadType } from './parameter-type.ts';
import type { MethodMetadata, MethodParameter } from './tool-module.ts';

/** An unknown type in the description of a method. The method can still be called. */
export interface ModuleWarning {
  readonly module: string;
  readonly method: string;
  /** The path of the parameter, as in `options.paths`. */
  readonly parameter: string;
  /** The type as the module writes it. */
  readonly type: string;
  readonly message: string;
}

/** The text for the prompt: the method's description, and its example if it has one. */
export function descriptionOf({ description = '', example = '' }: MethodMetadata): string {
  if (example.trim() === '') return description;
  return [description, `Example: ${example.trim()}`].filter((part) => part !== '').join('\n\n');
}

/** The contract of a method: text unless a parameter declares another type. */
export function schemaOfMethod(method: MethodMetadata): JsonSchema {
  if (method.inputSchema !== undefined) return method.inputSchema;
  return { ...objectOf(method.parameters ?? []), additionalProperties: false };
}

/** Required unless declared otherwise, or there is a default or `undefined` among its types. */
export function isRequired(parameter: MethodParameter): boolean {
  const { required, defaultValue } = parameter;
  return required ?? (defaultValue === undefined && !typeOf(parameter).isOptional);
}

/** The warnings about unknown parameter types. */
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

/** `properties` take precedence over the type name; for an array, they describe its items. */
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
